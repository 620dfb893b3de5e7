"""Trees of scikit-learn as the publisher's records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sciharness.errors import PluginError
from sciharness_publisher.families import Tree

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


class ExportError(PluginError):
    """The exported model is not the model that scikit-learn holds."""


def tree_record(
    feature: Numbers,
    threshold: Array,
    left: Numbers,
    right: Numbers,
    value: Array,
    *,
    single_precision: bool = False,
    output: int = 0,
) -> Tree:
    """Return one tree; arrays have one entry per node, ``left`` of a leaf is below 0.

    ``value`` (nodes, outputs) counts for leaves only. For ``single_precision``
    thresholds are rounded down to float32, which decides the same for every
    float32 value.

    Raises:
        ExportError: nodes are in an unknown order, or a number is not finite.
    """
    inner = left >= 0
    nodes = np.arange(len(left))
    if not (left[inner] == nodes[inner] + 1).all() or not (right[inner] > nodes[inner]).all():
        raise ExportError(
            "scikit-learn keeps the nodes of a tree in another order than expected",
            hint="Install a version of scikit-learn that this plugin was tested with.",
        )
    limits, leaves = threshold[inner], value[~inner]
    if not (np.isfinite(limits).all() and np.isfinite(leaves).all()):
        raise ExportError("a tree holds a threshold or a value that is not finite")
    return Tree(
        feature=tuple(np.where(inner, feature, -1).tolist()),
        threshold=tuple(_rounded_down(limits) if single_precision else limits.tolist()),
        right=tuple(right[inner].tolist()),
        value=tuple(leaves.ravel().tolist()),
        output=output,
    )


def _rounded_down(limits: Array) -> list[float]:
    """Return the largest float32 values up to the limits, in their shortest spelling."""
    single = limits.astype(np.float32)
    above = single.astype(np.float64) > limits
    single[above] = np.nextafter(single[above], np.float32(-np.inf))
    return [float(str(limit)) for limit in single]
