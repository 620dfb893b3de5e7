"""Samples of motion: columns at every time and node, their rates, and which cells are searched."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from sciharness_symbolic_regression.dynamics.relations import Relation
from sciharness_symbolic_regression.dynamics.request import DynamicsRequest
from sciharness_symbolic_regression.dynamics.series import Series
from sciharness_symbolic_regression.dynamics.smoothing import rate_error, smoothed
from sciharness_symbolic_regression.dynamics.sums import sums_over

Array = NDArray[np.float64]
Index = NDArray[np.intp]

BLOCKS = 10  # stretches of time; whole ones are kept back to choose a formula by
MOST_CELLS = 200_000
LEAST_KEPT_TIMES = 50
LEAST_SPREAD = 1e-9
EDGE = 0.03  # share of a series at each end where a spline's slope is poor


@frozen(eq=False)
class Column:
    """Values (times, nodes) of a column, what it means, and how noise gets into it.

    ``own`` is the derivative by the node's own measured value, ``power`` the
    variance from noise of anything else; both have the shape of ``values``.
    """

    values: Array
    meaning: str
    own: Array
    power: Array


@frozen(eq=False)
class Samples:
    """Everything known at each cell (times, nodes), of the nodes whose motion is searched.

    ``measured`` and its ``noise`` (nodes,) belong to the variable, ``rates``
    are the slopes of its splines, off by about ``rate_error``. ``target`` and
    ``group`` are names of columns. ``places`` are the searched nodes' numbers.
    """

    target: str
    group: str
    times: Array
    measured: Array
    noise: Array
    rates: Array
    rate_error: float
    columns: Mapping[str, Column]
    places: Index

    @property
    def inner(self) -> slice:
        """The times away from both ends of the series."""
        edge = max(2, round(EDGE * len(self.times)))
        return slice(edge, -edge)

    @property
    def relative_noise(self) -> float:
        """Noise of the measured values over their spread, the median over nodes."""
        spread = self.measured.std(axis=0)
        moving = spread > 0
        return float(np.median(self.noise[moving] / spread[moving])) if moving.any() else 0.0

    def with_column(self, name: str, values: Array, meaning: str) -> Samples:
        """Return the same with one more column (nodes,) that no noise gets into."""
        table = np.broadcast_to(values, self.rates.shape)
        still = np.broadcast_to(0.0, self.rates.shape)
        name = _free(name, {*self.columns, self.target, self.group})
        return evolve(self, columns={**self.columns, name: Column(table, meaning, still, still)})


def samples_of(
    series: Series, relation: Relation | None, request: DynamicsRequest, places: Index
) -> Samples:
    """Return the samples of a series; sums over neighbours count all nodes."""
    differences = request.rates == "differences"
    smooth = smoothed(series.times, series.measured, differences)
    shape = series.measured.shape
    zero, one = np.broadcast_to(0.0, shape), np.broadcast_to(1.0, shape)
    name = series.name
    about = name if differences else f"{name} of the node itself, smoothed"
    columns = {name: Column(smooth.values, about, one, zero)}
    for other, values in series.others.items():
        columns[other] = _other(series, other, values, differences)
    sums = sums_over(relation, smooth.values, request.terms, smooth.noise) if relation else ()
    for term, found in sums:
        text = f"the sum over neighbours j of i of {found.meaning}, x = {name}"
        free = _free("degree" if term == "degree" else f"sum_{term}", columns)
        columns[free] = Column(found.values, text, found.own, found.power)
    error = rate_error(series.times, series.measured, smooth.rates, differences)
    target = _free(f"d_{name}_dt", columns)
    samples = Samples(
        target, _free("block", {*columns, target}), series.times, series.measured[:, places],
        smooth.noise[places], smooth.rates[:, places], error, {}, places,
    )  # fmt: skip
    return evolve(samples, columns=_useful(columns, samples, name))


def write_samples(samples: Samples, path: Path) -> None:
    """Write the inner cells as a table; of very many, some times of all nodes evenly.

    Taking whole times keeps every node's own rate in the table.
    """
    rows, nodes = _kept(np.arange(len(samples.times))[samples.inner], len(samples.places))
    place = np.ix_(rows, nodes)
    inner = samples.times[samples.inner]
    block = np.searchsorted(inner, samples.times[rows]) * BLOCKS // len(inner)
    known = [np.asarray(one.values)[place] for one in samples.columns.values()]
    arrays = [np.broadcast_to(block[:, None], known[0].shape), *known, samples.rates[place]]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([samples.group, *samples.columns, samples.target])
        writer.writerows(zip(*(one.ravel().tolist() for one in arrays), strict=True))


def _kept(rows: Index, nodes: int) -> tuple[Index, Index]:
    """Return which times and which nodes are written."""
    times = min(len(rows), max(LEAST_KEPT_TIMES, MOST_CELLS // nodes))
    some = min(nodes, max(1, MOST_CELLS // times))
    return _evenly(rows, times), _evenly(np.arange(nodes), some)


def _evenly(places: Index, count: int) -> Index:
    return places[np.linspace(0, len(places) - 1, count).round().astype(np.intp)]


def _other(series: Series, name: str, values: Array, differences: bool) -> Column:
    """Return another variable of the directory; measured ones are smoothed as well."""
    zero = np.broadcast_to(0.0, values.shape)
    if differences or name not in series.moving:
        return Column(values, "a variable of the directory", zero, zero)
    single = values.strides[1] == 0  # the same at all nodes
    smooth = smoothed(series.times, values[:, :1] if single else values, differences)
    about = "a variable of the directory, smoothed"
    noise = np.broadcast_to(np.square(smooth.noise), values.shape)
    return Column(np.broadcast_to(smooth.values, values.shape), about, zero, noise)


def _useful(columns: Mapping[str, Column], samples: Samples, always: str) -> dict[str, Column]:
    """Return the columns of the searched nodes that vary and do not repeat an earlier one."""
    kept: dict[str, Column] = {}
    for name, column in columns.items():
        parts = (column.values, column.own, column.power)
        values, own, power = (part[:, samples.places] for part in parts)
        seen = values[samples.inner]
        size = float(np.abs(seen).max())
        if not np.isfinite(size) or (name != always and np.ptp(seen) <= LEAST_SPREAD * size):
            continue
        near = LEAST_SPREAD * size
        others = (other.values[samples.inner] for other in kept.values())
        if all(np.abs(seen - other).max() > near for other in others):
            kept[name] = Column(values, column.meaning, own, power)
    return kept


def _free(name: str, taken: Mapping[str, object] | set[str]) -> str:
    while name in taken:
        name += "_"
    return name
