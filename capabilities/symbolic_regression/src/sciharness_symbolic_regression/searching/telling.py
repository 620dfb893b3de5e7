"""Progress of a search: how much is done, the best formula so far, the seconds left."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, field

from sciharness.plugin import Context
from sciharness_publisher.expression import parse, render
from sciharness_symbolic_regression.formulas.algebra import Undefined, canonical
from sciharness_symbolic_regression.formulas.forms import mapped
from sciharness_symbolic_regression.formulas.written import tree_of

TELL_SECONDS = 1.0
SHOWN_CHARACTERS = 160
BEFORE_SEARCH, AFTER_SEARCH = 0.02, 0.7  # fractions of the whole operation


@define
class Teller:
    """Turns what pieces say into progress: fraction, best so far, seconds left."""

    context: Context
    planned: int
    finished: float = 0.0
    running: dict[int, float] = field(factory=dict)
    started: float = field(factory=time.monotonic)
    error: float = float("inf")
    formula: str = ""
    told: float = float("-inf")

    def listener(self, planned: Sequence[int]) -> Callable[[int, Mapping[str, Any]], None]:
        """Return what hears the news of one race."""
        self.finished += sum(self.running.values())
        self.running = {}

        def hear(index: int, said: Mapping[str, Any]) -> None:  # Any: JSON values
            part = 1.0 if said["ended"] else min(1.0, said["evaluations"] / planned[index])
            self.running[index] = part * planned[index]
            if said["formulas"] and said["error"] < self.error:
                self.error, self.formula = said["error"], said["formulas"][-1]
            if time.monotonic() - self.told >= TELL_SECONDS:
                self.tell()

        return hear

    def tell(self) -> None:
        """Send one line of progress."""
        self.told = time.monotonic()
        share = min((self.finished + sum(self.running.values())) / self.planned, 1.0)
        fraction = BEFORE_SEARCH + share * (AFTER_SEARCH - BEFORE_SEARCH)
        left = (self.told - self.started) * (1 - fraction) / fraction
        best: dict[str, float | str] = {"remaining_seconds": round(left, 1)}
        if self.formula:
            best.update(formula=shown(self.formula), error=self.error)
        self.context.progress(fraction, "searching", **best)


def shown(text: str) -> str:
    """Return a formula with constants to four digits, cut to one line."""
    try:
        form = mapped(canonical(parse(text)), lambda value: float(f"{value:.4g}"))
    except Undefined:
        return text[:SHOWN_CHARACTERS]
    line = render(tree_of(form))
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"
