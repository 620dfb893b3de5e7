"""Edges of a directory with their weights: who feels whom, and how strongly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness.errors import DataError

Array = NDArray[np.float64]
Loaded = Mapping[str, Any]  # Any: arrays and texts of the directory


@frozen(eq=False)
class Relation:
    """Edges as node numbers: ``feels`` (edges,) is i, ``others`` (edges, 1 or 2) are j and k.

    ``weights`` (1 or times, edges) multiply each term; ``weight_name`` is the
    variable that they come from, None where all are 1.
    """

    name: str
    feels: NDArray[np.int64]
    others: NDArray[np.int64]
    weights: Array
    weight_name: str | None = None


def read_relation(
    loaded: Loaded,
    name: str | None,
    orientation: str,
    weight: str | None = None,
    time: str = "time",
    weighted: bool = True,
) -> Relation | None:
    """Return the relation to sum over, None where the directory has none.

    Weights are those of variable ``weight``, by default of the only variable
    of the relation's edges that holds numbers.

    Raises:
        DataError: there is none of that name, or several and no name; it has
            no edges; weights are not finite or lie along other axes.
    """
    known = list(loaded["relation_names"])
    if name is None and not known and weight is None:
        return None
    if name is None and len(known) == 1:
        name = known[0]
    if name is None or name not in known:
        raise DataError(
            f"expected relation to name one of {', '.join(known) or 'none'}, found {name!r}",
            where="dynamics",
        )
    ends = np.asarray(loaded["data"][name], dtype=np.int64)
    if not len(ends):
        raise DataError(
            "expected at least one edge, found none",
            where=f"relation {name}",
            hint="Without edges there are no neighbours; leave the relation out of the directory.",
        )
    first = 0
    if orientation == "source_first":
        first = ends.shape[1] - 1
    elif orientation == "auto":
        first = _target_place(loaded, name, ends.shape[1])
    used = _weight_name(loaded, name, weight) if weighted else None
    weights = np.ones((1, len(ends))) if used is None else _weights(loaded, name, used, time)
    return Relation(name, ends[:, first], np.delete(ends, first, axis=1), weights, used)


def check_nodes(relation: Relation, loaded: Loaded, nodes: int, node_axis: str | None) -> None:
    """Check that the nodes of a relation are those of a variable.

    Raises:
        DataError: there are more or fewer.
    """
    if node_axis is None or loaded["num_nodes"] == nodes:
        return
    raise DataError(
        f"expected the {loaded['num_nodes']} nodes of the relations, found {nodes}",
        where=f"axis {node_axis}",
        hint="Sums over neighbours need a value of every node; set `variable` to one that has it.",
    )


def _weight_name(loaded: Loaded, name: str, asked: str | None) -> str | None:
    structures: Mapping[str, str] = loaded.get("structures", {})
    known = [
        one
        for one, of in structures.items()
        if of == name and np.asarray(loaded["data"][one]).dtype.kind in "biuf"
    ]
    if asked is None and len(known) <= 1:
        return known[0] if known else None
    if asked in known:
        return asked
    raise DataError(
        f"expected edge_weight to name one of {', '.join(known) or 'none'}, found {asked!r}",
        where=f"relation {name}",
        hint="Set `edge_weight`, or `weighted: false` for edges that all count alike. A weight "
        "has `structure` with the name of its relation.",
    )


def _weights(loaded: Loaded, name: str, weight: str, time: str) -> Array:
    axes = list(loaded["variable_axes"][weight])
    values = np.asarray(loaded["data"][weight], dtype=np.float64)
    edge_axis = axes[-1]
    if axes not in ([edge_axis], [time, edge_axis]):
        raise DataError(
            f"expected axes {edge_axis}, or {time} and {edge_axis}, found {', '.join(axes)}",
            where=f"weights {weight} of {name}",
        )
    if not np.isfinite(values).all():
        bad = int((~np.isfinite(values)).sum())
        raise DataError(
            f"expected finite numbers, found {bad} that are not",
            where=f"weights {weight} of {name}",
            hint="An edge that is not there has weight 0.",
        )
    return values.reshape(-1, values.shape[-1])


def _target_place(loaded: Loaded, name: str, width: int) -> int:
    """Return the column of the endpoint that feels the others, by the values of its axis."""
    axis = loaded["variable_axes"][name][-1]
    labels = [str(one).lower() for one in np.asarray(loaded["data"].get(axis, ())).ravel()]
    return labels.index("target") if len(labels) == width and "target" in labels else 0
