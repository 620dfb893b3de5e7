"""Sums over the neighbours of each node: the columns that make a network's law a formula."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_symbolic_regression.dynamics.relations import Relation

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
SMALL = 1e-5  # step of a derivative, relative to the values
BLOCK = 1 << 20  # cells (times, edges) at once, so that memory stays flat


@frozen(eq=False)
class NeighbourSum:
    """One sum (times, nodes), what it sums, and how noise of the values gets into it.

    ``own`` is its derivative by the node's own value, ``power`` the variance
    that noise of its neighbours' values gives it.
    """

    values: Array
    meaning: str
    own: Array
    power: Array


def sums_over(
    relation: Relation, values: Array, asked: Sequence[str] | None, noise: Array | None = None
) -> Iterator[tuple[str, NeighbourSum]]:
    """Yield sums by term; terms that are undefined for the values are left out.

    ``asked`` names terms of pairs, None offers all; ``noise`` (nodes,) is that
    of the values.
    """
    noise = np.zeros(values.shape[1]) if noise is None else noise
    pairs = relation.others.shape[1] == 1
    known: Mapping[str, tuple[str, Callable[..., Array]]] = (
        PAIRS if pairs else {**TRIPLES, "degree": PAIRS["degree"]}
    )
    weight = "" if relation.weight_name is None else f"{relation.weight_name} times "
    for term, (text, function) in known.items():
        if asked is not None and term not in asked and pairs:
            continue
        if term == "saturating_source" and values.min() < 0:
            continue
        yield term, _summed(relation, values, noise, function, term == "degree", weight + text)


def _summed(
    relation: Relation,
    values: Array,
    noise: Array,
    function: Callable[..., Array],
    alone: bool,
    meaning: str,
) -> NeighbourSum:
    total, own, power = (np.zeros(values.shape) for _ in range(3))
    step = SMALL * (float(np.abs(values).max()) or 1.0)
    edges = len(relation.feels)
    rows = max(1, BLOCK // edges)
    for start in range(0, len(values), rows):
        part = slice(start, start + rows)
        weights = relation.weights[part] if len(relation.weights) > 1 else relation.weights
        ends = [values[part, relation.feels]]
        ends += [values[part, column] for column in relation.others.T]
        ends = ends[:2] if alone else ends
        total[part] = _at_nodes(relation, weights * function(*ends), values.shape[1])
        for place in range(len(ends)):
            slope = weights * _slope(function, ends, place, step)
            if place == 0:
                own[part] = _at_nodes(relation, slope, values.shape[1])
            else:
                slope = slope * noise[relation.others[:, place - 1]]
                power[part] += _at_nodes(relation, slope * slope, values.shape[1])
    return NeighbourSum(total, meaning, own, power)


def _slope(function: Callable[..., Array], ends: Sequence[Array], place: int, step: float) -> Array:
    above, below = list(ends), list(ends)
    above[place], below[place] = ends[place] + step, ends[place] - step
    return (function(*above) - function(*below)) / (2 * step)


def _at_nodes(relation: Relation, terms: Array, nodes: int) -> Array:
    """Return terms (times, edges) added up at the nodes that feel them."""
    times = len(terms)
    places = np.arange(times)[:, None] * nodes + relation.feels
    total = np.bincount(places.ravel(), terms.ravel(), times * nodes)
    return np.asarray(total, dtype=np.float64).reshape(times, nodes)
