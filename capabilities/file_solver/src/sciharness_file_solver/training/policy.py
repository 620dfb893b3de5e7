"""The routing policy: regions of the domain, each with an error bound measured on kept cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_file_solver.shipped.routing import region_bounds
from sciharness_file_solver.training.families import Box

Array = NDArray[np.float64]
Json = dict[str, Any]  # Any: JSON values

RULE = (
    "split conformal prediction within each region: of n kept cases with sorted errors the bound "
    "is the error at place ceil((n + 1)(1 - miss_rate)); a region answers if bound and root mean "
    "square error of its kept cases are at most the tolerance"
)
SPARE = 2.0  # kept cases for each region, as a multiple of the fewest that give a bound
SPREAD = 4096  # points that regions are drawn on
NEAR = 3  # training cases that tell the error at a point


@frozen(eq=False)
class Policy:
    """Regions as the leaves of a tree, and what was measured in each.

    ``bound`` is the error that new cases of the region exceed with a chance of
    ``miss_rate`` at most; ``None`` where too few cases were kept to tell.
    """

    tolerance: float
    miss_rate: float
    feature: Sequence[int]
    threshold: Sequence[float]
    right: Sequence[int]
    bound: Sequence[float | None] = ()
    cases: Sequence[int] = ()

    @property
    def leaves(self) -> tuple[int, ...]:
        """The nodes that are regions."""
        return tuple(node for node, column in enumerate(self.feature) if column < 0)

    def answers(self, leaf: int) -> bool:
        """Return whether the surrogate may answer in a region."""
        bound = self.bound[leaf]
        return bound is not None and bound <= self.tolerance

    def document(self) -> Json:
        """Return the policy as inference.py reads it."""
        return {
            "rule": RULE,
            "tolerance": self.tolerance,
            "miss_rate": self.miss_rate,
            "feature": list(self.feature),
            "threshold": list(self.threshold),
            "right": list(self.right),
            "bound": list(self.bound),
            "cases": list(self.cases),
        }

    def bounds(self, rows: Array) -> Array:
        """Return the error bound at each row, infinite where there is none, shape (n,)."""
        return np.asarray(region_bounds(self.document(), list(rows.T), len(rows)))

    def answered(self, rows: Array) -> NDArray[np.bool_]:
        """Return at which rows the surrogate may answer."""
        return self.bounds(rows) <= self.tolerance


def fewest(miss_rate: float) -> int:
    """Return how many kept cases a region needs for a finite bound.

    >>> fewest(0.05)
    19
    """
    return math.ceil(1.0 / miss_rate - 1.0 - 1e-9)


def regions(
    box: Box,
    rows: Array,
    errors: Array,
    kept: int,
    tolerance: float,
    miss_rate: float,
    seed: int,
) -> Policy:
    """Return regions of similar error, found on training cases alone.

    ``rows`` (n, columns), ``errors`` (n,) of models that did not see the case,
    infinite where the solver failed. ``kept`` is the number of evenly spread
    cases that will measure them: every region is large enough to get its share.
    """
    from scipy.spatial import cKDTree  # slow imports, like the next
    from sklearn.tree import DecisionTreeRegressor

    most = int(kept / (SPARE * fewest(miss_rate)))
    if most < 2:
        return Policy(tolerance, miss_rate, [-1], [0.0], [0])
    finite = errors[np.isfinite(errors)]
    worst = 10.0 * max(float(finite.max(initial=0.0)), tolerance)
    logs = np.log(np.minimum(errors, worst) + 1e-3 * tolerance)
    # Adaptive cases crowd; points spread evenly give each region its volume.
    spread = np.random.default_rng(seed).random((SPREAD, len(box.names)))
    near = cKDTree((rows - box.low) / (2.0 * box.half)).query(spread, min(NEAR, len(rows)))[1]
    expected = logs[near.reshape(SPREAD, -1)].mean(axis=1)
    # Not by max_leaf_nodes: then nodes are not in the order of a walk, left child first.
    tree = (
        DecisionTreeRegressor(min_samples_leaf=SPREAD // most)
        .fit(box.low + 2.0 * box.half * spread, expected)
        .tree_
    )
    inner = tree.children_left >= 0
    return Policy(
        tolerance,
        miss_rate,
        np.where(inner, tree.feature, -1).tolist(),
        np.where(inner, tree.threshold, 0.0).tolist(),
        np.where(inner, tree.children_right, 0).tolist(),
    )


def measured(policy: Policy, rows: Array, errors: Array) -> Policy:
    """Return the policy with a bound for each region from kept cases it was not made from."""
    nodes = len(policy.feature)
    numbered = {
        **policy.document(),
        "bound": [float(node) for node in range(nodes)],
    }
    node = region_bounds(numbered, list(rows.T), len(rows)).astype(int)
    bounds: list[float | None] = [None] * nodes
    cases = [0] * nodes
    for leaf in np.unique(node):
        own = np.sort(errors[node == leaf])
        cases[leaf] = len(own)
        bounds[leaf] = conformal(own, policy.miss_rate, policy.tolerance)
    return Policy(
        policy.tolerance,
        policy.miss_rate,
        policy.feature,
        policy.threshold,
        policy.right,
        bounds,
        cases,
    )


def conformal(errors: Array, miss_rate: float, tolerance: float) -> float | None:
    """Return the bound of sorted errors, ``None`` where they allow none."""
    place = math.ceil((len(errors) + 1) * (1.0 - miss_rate) - 1e-9)
    if place > len(errors) or not math.isfinite(errors[place - 1]):
        return None
    bound = float(errors[place - 1])
    usual = errors[np.isfinite(errors)]
    spread = float(np.sqrt((usual**2).mean()))
    return bound if spread <= tolerance else max(bound, spread)
