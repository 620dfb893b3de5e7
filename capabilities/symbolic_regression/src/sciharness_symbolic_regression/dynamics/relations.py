"""Sums over the neighbours of each node: the columns that make a network's law a formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness.errors import DataError

Array = NDArray[np.float64]
Pair = Callable[[Array, Array], Array]

PAIRS: Mapping[str, tuple[str, Pair]] = {
    "diff": ("x_j - x_i", lambda own, other: other - own),
    "sin_diff": ("sin(x_j - x_i)", lambda own, other: np.sin(other - own)),
    "cos_diff": ("cos(x_j - x_i)", lambda own, other: np.cos(other - own)),
    "tanh_diff": ("tanh(x_j - x_i)", lambda own, other: np.tanh(other - own)),
    "diff_cubed": ("(x_j - x_i)**3", lambda own, other: (other - own) ** 3),
    "source": ("x_j", lambda own, other: other),
    "source_squared": ("x_j**2", lambda own, other: other**2),
    "sin_source": ("sin(x_j)", lambda own, other: np.sin(other)),
    "tanh_source": ("tanh(x_j)", lambda own, other: np.tanh(other)),
    "saturating_source": ("x_j/(1 + x_j)", lambda own, other: other / (1 + other)),
    "degree": ("1", lambda own, other: np.ones_like(other)),
}
TRIPLES: Mapping[str, tuple[str, Callable[[Array, Array, Array], Array]]] = {
    "sin_triple": ("sin(x_j + x_k - 2*x_i)", lambda own, one, two: np.sin(one + two - 2 * own)),
    "diff_triple": ("x_j + x_k - 2*x_i", lambda own, one, two: one + two - 2 * own),
    "product": ("x_j*x_k", lambda own, one, two: one * two),
}


@frozen(eq=False)
class Relation:
    """Edges as node numbers: ``feels`` (edges,) is i, ``others`` (edges, 1 or 2) are j and k."""

    name: str
    feels: NDArray[np.int64]
    others: NDArray[np.int64]


def read_relation(
    loaded: Mapping[str, Any], name: str | None, orientation: str
) -> Relation | None:  # Any: arrays and texts of the directory
    """Return the relation to sum over, None where the directory has none.

    Raises:
        DataError: there is none of that name, or several and no name.
    """
    known = list(loaded["relation_names"])
    if name is None and not known:
        return None
    if name is None and len(known) == 1:
        name = known[0]
    if name is None or name not in known:
        raise DataError(
            f"expected relation to name one of {', '.join(known) or 'none'}, found {name!r}",
            where="dynamics",
        )
    ends = np.asarray(loaded["data"][name], dtype=np.int64)
    first = 0
    if orientation == "source_first":
        first = ends.shape[1] - 1
    elif orientation == "auto":
        first = _target_place(loaded, name, ends.shape[1])
    return Relation(name, ends[:, first], np.delete(ends, first, axis=1))


def sums_over(
    relation: Relation, values: Array, asked: Sequence[str] | None
) -> tuple[dict[str, Array], dict[str, str]]:
    """Return sums (times, nodes) by term, and what each one sums; terms that are undefined are out.

    ``asked`` names terms; None offers all.
    """
    found: dict[str, Array] = {}
    meaning: dict[str, str] = {}
    own = values[:, relation.feels]
    others = [values[:, column] for column in relation.others.T]
    known: Mapping[str, tuple[str, Callable[..., Array]]] = (
        PAIRS if len(others) == 1 else {**TRIPLES, "degree": PAIRS["degree"]}
    )
    for term, (text, function) in known.items():
        if asked is not None and term not in asked and len(others) == 1:
            continue
        if term == "saturating_source" and values.min() < 0:
            continue
        arguments = (own, others[0]) if term == "degree" else (own, *others)
        found[term] = _summed(function(*arguments), relation.feels, values.shape)
        meaning[term] = text
    return found, meaning


def _summed(terms: Array, feels: NDArray[np.int64], shape: tuple[int, ...]) -> Array:
    total = np.zeros(shape[::-1])
    np.add.at(total, feels, terms.T)
    return np.ascontiguousarray(total.T)


def _target_place(loaded: Mapping[str, Any], name: str, width: int) -> int:
    """Return the column of the endpoint that feels the others, by the values of its axis."""
    axis = loaded["variable_axes"][name][-1]
    labels = [str(one).lower() for one in np.asarray(loaded["data"].get(axis, ())).ravel()]
    return labels.index("target") if len(labels) == width and "target" in labels else 0
