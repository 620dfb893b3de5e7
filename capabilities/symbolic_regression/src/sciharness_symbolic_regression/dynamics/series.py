"""Series of a directory along time: measured values, and what else is known at the same cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness.errors import DataError

Array = NDArray[np.float64]
Loaded = Mapping[str, Any]  # Any: arrays and texts of the directory

LEAST_TIMES = 8
WIDEST_GAP = 20.0  # a step longer than this many usual ones leaves the motion between unknown
SHOWN = 5


@frozen(eq=False)
class Series:
    """One variable along time, and what else the directory knows at the same cells.

    ``measured`` (times, nodes) holds its values; ``others`` are plain variables
    by name in the same shape, ``moving`` those of them that are measured along
    time. A variable without nodes has one node, named ``""``.
    """

    name: str
    times: Array
    measured: Array
    others: Mapping[str, Array]
    moving: frozenset[str]
    node_axis: str | None
    nodes: tuple[str, ...]

    @property
    def gap(self) -> float:
        """The longest step of time over the usual one."""
        steps = np.diff(self.times)
        return float(steps.max() / np.median(steps))

    @property
    def still(self) -> tuple[int, ...]:
        """The nodes whose values never change."""
        return tuple(np.flatnonzero(np.ptp(self.measured, axis=0) == 0).tolist())


def read_series(loaded: Loaded, variable: str | None, time: str, wrapped: bool) -> Series:
    """Return the series of a variable of a loaded directory.

    Raises:
        DataError: there is no such variable or axis; times are too few, out of
            order or with a long gap; a value is missing.
    """
    name = _variable(loaded, variable, time)
    axes = loaded["variable_axes"][name]
    times = _times(loaded, time)
    node_axis = _node_axis(name, axes, time)
    measured = _table(loaded, name, time)
    nodes = _labels(loaded, node_axis, measured.shape[1])
    _check_finite(name, measured, time, times, nodes)
    if wrapped:
        measured = np.unwrap(measured, axis=0)
    plain = _plain(loaded, name, {time, node_axis})
    others = {one: _spread(loaded, one, time, node_axis, measured.shape) for one in plain}
    for one, values in others.items():
        _check_finite(one, values, time, times, nodes)
    moving = frozenset(one for one in plain if _moves(loaded, one, time))
    return Series(name, times, measured, others, moving, node_axis, nodes)


def shown_nodes(series: Series, places: Sequence[int]) -> str:
    """Return some nodes by name, the first few of them."""
    named = [series.nodes[place] for place in places[:SHOWN]]
    more = len(places) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _variable(loaded: Loaded, variable: str | None, time: str) -> str:
    known = loaded["variable_axes"]
    along = [
        name
        for name, axes in known.items()
        if time in axes
        and name not in loaded["relation_names"]
        and name not in loaded.get("structures", {})
        and _is_number(loaded, name)
    ]
    if variable is None and len(along) == 1:
        return str(along[0])
    if variable in along:
        return str(variable)
    raise DataError(
        f"expected variable to name one of {', '.join(along) or 'none'}, found {variable!r}",
        where="dynamics",
        hint=f"It has to lie along axis {time!r} and hold numbers.",
    )


def _times(loaded: Loaded, time: str) -> Array:
    if time not in loaded["data"]:
        raise DataError(f"there is no axis {time!r}", where="dynamics", hint="Set `time`.")
    where = f"axis {time}"
    times = np.asarray(loaded["data"][time])
    if times.dtype.kind not in "iuf":
        raise DataError(f"expected numbers, found {times.dtype}", where=where)
    times = times.astype(np.float64)
    if len(times) < LEAST_TIMES:
        raise DataError(
            f"expected at least {LEAST_TIMES} times, found {len(times)}",
            where=where,
            hint="A law of motion needs values along time; measure more often.",
        )
    bad = np.flatnonzero(~np.isfinite(times))
    if len(bad):
        raise DataError(f"expected finite numbers, found {times[bad[0]]} at {bad[0]}", where=where)
    steps = np.diff(times)
    back = np.flatnonzero(steps <= 0)
    if len(back):
        place = int(back[0])
        raise DataError(
            f"expected growing numbers, found {times[place + 1]:g} after {times[place]:g} "
            f"(entries {place} and {place + 1})",
            where=where,
            hint="Sort the entries along time and keep one of each time.",
        )
    _check_gaps(times, steps, where)
    return times


def _check_gaps(times: Array, steps: Array, where: str) -> None:
    place, usual = int(steps.argmax()), float(np.median(steps))
    if steps[place] > WIDEST_GAP * usual:
        raise DataError(
            f"expected steps of time alike, found one of {steps[place]:g} between "
            f"{times[place]:g} and {times[place + 1]:g} where the usual one is {usual:g}",
            where=where,
            hint="Keep the part before or after the gap: what happened in it is not known.",
        )


def _check_finite(
    name: str, values: Array, time: str, times: Array, nodes: tuple[str, ...]
) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if not len(bad):
        return
    row, node = bad[0]
    cell = f"{time} {times[row]:g}" + (f", node {nodes[node]}" if nodes[node] else "")
    raise DataError(
        f"expected finite numbers, found {len(bad)} that are not, the first one "
        f"({values[row, node]}) at {cell}",
        where=f"variable {name}",
        hint="Leave out or fill in times and nodes with missing values first.",
    )


def _node_axis(name: str, axes: Sequence[str], time: str) -> str | None:
    others = [axis for axis in axes if axis != time]
    if len(others) > 1:
        raise DataError(
            f"expected axes {time!r} and at most one more, found {', '.join(axes)}",
            where=f"variable {name}",
        )
    return others[0] if others else None


def _labels(loaded: Loaded, node_axis: str | None, count: int) -> tuple[str, ...]:
    if node_axis is None:
        return ("",)
    return tuple(str(one) for one in np.asarray(loaded["data"][node_axis]).tolist()[:count])


def _table(loaded: Loaded, name: str, time: str) -> Array:
    """Return a variable as (times, nodes)."""
    values = np.asarray(loaded["data"][name], dtype=np.float64)
    place = list(loaded["variable_axes"][name]).index(time)
    return np.moveaxis(values, place, 0).reshape(values.shape[place], -1)


def _plain(loaded: Loaded, name: str, axes: set[str | None]) -> list[str]:
    return [
        other
        for other, along in loaded["variable_axes"].items()
        if other != name
        and other not in loaded["relation_names"]
        and other not in loaded.get("structures", {})
        and along
        and set(along) <= axes
        and _is_number(loaded, other)
    ]


def _spread(
    loaded: Loaded, name: str, time: str, node_axis: str | None, shape: tuple[int, ...]
) -> Array:
    """Return a variable that may lack an axis in the shape (times, nodes)."""
    axes = loaded["variable_axes"][name]
    values = np.asarray(loaded["data"][name], dtype=np.float64)
    if list(axes) == [node_axis]:
        return np.broadcast_to(values[None, :], shape)
    if list(axes) == [time]:
        return np.broadcast_to(values[:, None], shape)
    return values if axes[0] == time else values.T


def _moves(loaded: Loaded, name: str, time: str) -> bool:
    """Whether a variable is measured along time; counts and switches are taken as they are."""
    is_measured = np.asarray(loaded["data"][name]).dtype.kind == "f"
    return is_measured and time in loaded["variable_axes"][name]


def _is_number(loaded: Loaded, name: str) -> bool:
    return np.asarray(loaded["data"][name]).dtype.kind in "biuf"
