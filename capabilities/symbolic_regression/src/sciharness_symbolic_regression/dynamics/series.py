"""Series of a directory along time: values and derivatives, node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness.errors import DataError

Array = NDArray[np.float64]

LEAST_TIMES = 8
CHANGE_SHARE = 0.5  # for noise the change is about the error, for smooth series several times it
EDGE = 0.03  # share of a series at each end where a spline's slope is poor


@frozen(eq=False)
class Series:
    """One variable along time, and what else the directory knows at the same cells.

    ``values`` and ``rates`` (times, nodes) are smoothed; ``others`` are plain
    variables by name in the same shape. A variable without nodes has one node.
    ``rate_error`` estimates how far the rates are off.
    """

    name: str
    times: Array
    values: Array
    rates: Array
    rate_error: float
    others: Mapping[str, Array]
    node_axis: str | None


def read_series(
    loaded: Mapping[str, Any], variable: str | None, time: str, smoothing: str, wrapped: bool
) -> Series:  # Any: arrays and texts of the directory
    """Return the series of a variable of a loaded directory.

    Raises:
        DataError: there is no such variable or axis, or too few or unordered times.
    """
    name = _variable(loaded, variable, time)
    axes = loaded["variable_axes"][name]
    times = _times(loaded, time)
    node_axis = _node_axis(name, axes, time)
    table = _table(loaded["data"][name], axes, time)
    if not np.isfinite(table).all():
        raise DataError("expected finite numbers, found others", where=f"variable {name}")
    if wrapped:
        table = np.unwrap(table, axis=0)
    values, rates = _smoothed(times, table, smoothing)
    error = _rate_error(times, table, rates, smoothing)
    kept = slice(max(2, round(EDGE * len(times))), -max(2, round(EDGE * len(times))))
    others = {
        other: _spread(loaded, other, time, node_axis, table.shape)[kept]
        for other in _plain(loaded, name, {time, node_axis})
    }
    return Series(name, times[kept], values[kept], rates[kept], error, others, node_axis)


def _variable(loaded: Mapping[str, Any], variable: str | None, time: str) -> str:
    known = loaded["variable_axes"]
    along = [
        name
        for name, axes in known.items()
        if time in axes and name not in loaded["relation_names"] and _is_number(loaded, name)
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


def _times(loaded: Mapping[str, Any], time: str) -> Array:
    if time not in loaded["data"]:
        raise DataError(f"there is no axis {time!r}", where="dynamics", hint="Set `time`.")
    times = np.asarray(loaded["data"][time])
    if times.dtype.kind not in "iuf":
        raise DataError(f"expected numbers, found {times.dtype}", where=f"axis {time}")
    times = times.astype(np.float64)
    if len(times) < LEAST_TIMES or not (np.diff(times) > 0).all():
        raise DataError(
            f"expected at least {LEAST_TIMES} growing numbers, found others", where=f"axis {time}"
        )
    return times


def _node_axis(name: str, axes: Sequence[str], time: str) -> str | None:
    others = [axis for axis in axes if axis != time]
    if len(others) > 1:
        raise DataError(
            f"expected axes {time!r} and at most one more, found {', '.join(axes)}",
            where=f"variable {name}",
        )
    return others[0] if others else None


def _table(array: Any, axes: Sequence[str], time: str) -> Array:
    """Return an array as (times, nodes)."""
    values = np.asarray(array, dtype=np.float64)
    return np.moveaxis(values, list(axes).index(time), 0).reshape(
        values.shape[axes.index(time)], -1
    )


def _smoothed(times: Array, table: Array, smoothing: str) -> tuple[Array, Array]:
    if smoothing == "differences":
        return table, np.asarray(np.gradient(table, times, axis=0, edge_order=2))
    from scipy.interpolate import make_smoothing_spline  # heavy: only for dynamics

    splines = [make_smoothing_spline(times, column) for column in table.T]
    values = np.column_stack([spline(times) for spline in splines])
    rates = np.column_stack([spline.derivative()(times) for spline in splines])
    return values, rates


def _rate_error(times: Array, table: Array, rates: Array, smoothing: str) -> float:
    """Return how much rates change when they are taken from every second value."""
    fewer = slice(None, None, 2)
    if len(times[fewer]) < LEAST_TIMES:
        return 0.0
    _, coarse = _smoothed(times[fewer], table[fewer], smoothing)
    inner = slice(2, -2)
    return CHANGE_SHARE * float(np.sqrt(np.mean((coarse - rates[fewer])[inner] ** 2)))


def _plain(loaded: Mapping[str, Any], name: str, axes: set[str | None]) -> list[str]:
    return [
        other
        for other, along in loaded["variable_axes"].items()
        if other != name
        and other not in loaded["relation_names"]
        and along
        and set(along) <= axes
        and _is_number(loaded, other)
    ]


def _spread(
    loaded: Mapping[str, Any], name: str, time: str, node_axis: str | None, shape: tuple[int, ...]
) -> Array:
    """Return a variable that may lack an axis in the shape (times, nodes)."""
    axes = loaded["variable_axes"][name]
    values = np.asarray(loaded["data"][name], dtype=np.float64)
    if list(axes) == [node_axis]:
        return np.broadcast_to(values[None, :], shape)
    if list(axes) == [time]:
        return np.broadcast_to(values[:, None], shape)
    return values if axes[0] == time else values.T


def _is_number(loaded: Mapping[str, Any], name: str) -> bool:
    return np.asarray(loaded["data"][name]).dtype.kind in "biuf"
