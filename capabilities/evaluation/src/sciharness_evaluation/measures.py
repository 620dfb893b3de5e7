"""Measured metrics, kept apart from those that are undefined on the rows at hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from attrs import field, frozen

NOT_A_FLOAT = "its value is beyond the range of a 64-bit float"


@frozen
class Measures:
    """Values by metric name, and for each metric without a value the reason."""

    values: Mapping[str, float] = field(factory=dict)
    undefined: Mapping[str, str] = field(factory=dict)


class Measuring:
    """Collects metrics one by one; what cannot be computed is named, never guessed."""

    def __init__(self) -> None:
        self._values: dict[str, float] = {}
        self._undefined: dict[str, str] = {}

    def add(self, name: str, value: Callable[[], float], unless: str = "") -> None:
        """Compute a metric, or note the reason ``unless`` it is empty."""
        if unless:
            self._undefined[name] = unless
            return
        try:
            number = value()
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            self._values[name] = number
        else:
            self._undefined[name] = NOT_A_FLOAT

    def done(self) -> Measures:
        """Return what was collected."""
        return Measures(dict(self._values), dict(self._undefined))
