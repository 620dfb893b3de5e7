"""Axes of plots: ranges, round ticks, and where a value lies."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import evolve, frozen

from sciharness_reporting.svg import Drawing
from sciharness_reporting.text import MINUS, power_of_ten

_LARGEST = 1e300
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@frozen
class Axis:
    """A range of values laid along ``start`` to ``stop`` in the drawing's units."""

    label: str
    low: float
    high: float
    log: bool = False
    start: float = 0.0
    stop: float = 1.0

    def along(self, start: float, stop: float) -> Axis:
        """Return the axis laid from ``start`` to ``stop``."""
        return evolve(self, start=start, stop=stop)

    def place(self, value: float) -> float:
        """Return where ``value`` lies, held inside the axis."""
        low, high, here = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, here = math.log10(low), math.log10(high), math.log10(here)
        return self.start + (here - low) / (high - low) * (self.stop - self.start)

    def ticks(self) -> list[float]:
        """Return round values inside the range, about five of them."""
        return _log_ticks(self) if self.log else _linear_ticks(self.low, self.high)


def fitting(
    label: str, values: Sequence[float], *, log: bool = False, zero: bool = False
) -> Axis | None:
    """Return an axis that holds ``values`` with a little room, or ``None`` if none can.

    With ``log`` decades are laid out evenly if all values are positive and
    span more than a factor of thirty; ``zero`` keeps zero on the axis.
    """
    known = [value for value in values if abs(value) < _LARGEST]
    if zero:
        known.append(0.0)
    if len(known) < len(values) or not known:
        return None
    low, high = min(known), max(known)
    if log and low > 1e-200 and 30 < high / low < 1e200:
        room = (high / low) ** 0.04
        return Axis(label, low / room, high * room, log=True)
    room = 0.04 * (high - low) or 0.05 * abs(high) or 1.0
    return Axis(label, low - room, high + room)


def _linear_ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / 6
    size = 10.0 ** math.floor(math.log10(rough))
    step = size * next(one for one in _STEPS if one * size >= rough * 0.9)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [number * step for number in range(first, min(last, first + 20) + 1)]


def _log_ticks(axis: Axis) -> list[float]:
    first, last = math.ceil(math.log10(axis.low) - 1e-9), math.floor(math.log10(axis.high) + 1e-9)
    if last - first >= 2:
        every = max(1, math.ceil((last - first) / 6))
        return [10.0**power for power in range(first, last + 1, every)]
    powers = range(first - 1, last + 1)
    fine = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return [value for value in fine if axis.low <= value <= axis.high]


def tick_words(axis: Axis) -> tuple[list[str], str]:
    """Return the texts of the ticks and the power of ten they share, if any."""
    ticks = axis.ticks()
    largest = max((abs(tick) for tick in ticks), default=0.0)
    if axis.log:
        return [_log_word(tick) for tick in ticks], ""
    exponent = math.floor(math.log10(largest)) if largest else 0
    exponent = 0 if -3 <= exponent <= 4 else exponent
    step = (ticks[1] - ticks[0] if len(ticks) > 1 else largest or 1.0) / 10.0**exponent
    places = min(12, max(0, math.ceil(-math.log10(step) - 1e-9)))
    places += f"{step:.{places + 1}f}"[-1] != "0"
    words = [f"{tick / 10.0**exponent:.{places}f}".replace("-", MINUS) for tick in ticks]
    return words, f"\u00d7{power_of_ten(exponent)}" if exponent else ""


def _log_word(tick: float) -> str:
    exponent = math.floor(math.log10(tick) + 1e-9)
    if -3 <= exponent <= 4:
        return f"{tick:.{max(0, -exponent)}f}"
    digit = round(tick / 10.0**exponent)
    return power_of_ten(exponent) if digit == 1 else f"{digit}\u00d7{power_of_ten(exponent)}"


def draw_axes(drawing: Drawing, across: Axis, up: Axis) -> None:
    """Draw grid, ticks and labels of two axes that are laid out already."""
    words, factor = tick_words(across)
    for tick, word in zip(across.ticks(), words, strict=True):
        x = across.place(tick)
        drawing.line([(x, up.start), (x, up.stop)], "rule")
        drawing.text(x, up.start + 18, word, "soft", "middle")
    _label(drawing, across, factor, (across.start + across.stop) / 2, up.start + 40)
    words, factor = tick_words(up)
    for tick, word in zip(up.ticks(), words, strict=True):
        y = up.place(tick)
        drawing.line([(across.start, y), (across.stop, y)], "rule")
        drawing.text(across.start - 8, y + 4.5, word, "soft", "end")
    _label(drawing, up, factor, across.start - 52, (up.start + up.stop) / 2, turned=True)
    drawing.line(
        [(across.start, up.stop), (across.start, up.start), (across.stop, up.start)], "soft"
    )


def _label(
    drawing: Drawing, axis: Axis, factor: str, x: float, y: float, turned: bool = False
) -> None:
    words = f"{axis.label}  ({factor})" if factor else axis.label
    drawing.text(x, y, words, "ink", "middle", turned)
