"""Rates of nodes' own: constants that differ from node to node, told apart by fixed effects."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST_TERMS = 4


def own_rates(rates: Array, columns: Mapping[str, Array], policy: str) -> Array | None:
    """Return each node's own rate (nodes,), or None where nodes do not differ.

    Columns and rates are compared within each node, so whatever is constant in
    a node drops out; the few columns that explain most there are then taken
    off, and what is left on average is the node's own.
    """
    if policy == "no" or rates.shape[1] < 2:
        return None
    table = np.column_stack([column.ravel() for column in columns.values()])
    target = rates.ravel()
    nodes = np.tile(np.arange(rates.shape[1]), rates.shape[0])
    inside, ours = _centred(table, rates.shape), _centred(target[:, None], rates.shape)[:, 0]
    chosen = _forward(inside, ours)
    weights = _solved(inside[:, chosen], ours)
    rest = target - table[:, chosen] @ weights
    means: Array = np.bincount(nodes, rest) / rates.shape[0]
    if policy == "auto" and not _differ(table, target, rest - means[nodes], rates.shape[1]):
        return None
    return means


def _differ(table: Array, target: Array, with_rates: Array, nodes: int) -> bool:
    """Whether an information criterion prefers rates of nodes' own to one constant for all."""
    count = len(target)
    centred = table - table.mean(axis=0)
    ours = target - target.mean()
    chosen = _forward(centred, ours)
    without = ours - centred[:, chosen] @ _solved(centred[:, chosen], ours)
    floor = 1e-12 * float(np.square(ours).mean()) or 1e-300
    losses = [max(float(np.square(one).mean()), floor) for one in (with_rates, without)]
    gain = count * (np.log(losses[1]) - np.log(losses[0]))
    return bool(gain > (nodes - 1) * np.log(count))


def _forward(table: Array, target: Array) -> list[int]:
    """Return the columns that forward selection takes, as long as a criterion falls."""
    chosen: list[int] = []
    count, rest = len(target), target
    best = count * np.log(max(float(np.square(target).mean()), 1e-300))
    sizes = np.sqrt(np.square(table).sum(axis=0))
    while len(chosen) < MOST_TERMS:
        with np.errstate(all="ignore"):
            gain = np.abs(table.T @ rest) / sizes
        gain[[*chosen, *np.flatnonzero(sizes <= 1e-9 * sizes.max())]] = -1.0
        trial = [*chosen, int(np.argmax(gain))]
        if gain[trial[-1]] < 0:
            break
        rest_now = target - table[:, trial] @ _solved(table[:, trial], target)
        loss = max(float(np.square(rest_now).mean()), 1e-300)
        score = count * np.log(loss) + len(trial) * np.log(count)
        if score >= best:
            break
        chosen, rest, best = trial, rest_now, score
    return chosen


def _solved(table: Array, target: Array) -> Array:
    return np.asarray(np.linalg.lstsq(table, target, rcond=None)[0])


def _centred(table: Array, shape: tuple[int, ...]) -> Array:
    cube = table.reshape(*shape, -1)
    return np.asarray((cube - cube.mean(axis=0)).reshape(table.shape))
