"""What a search engine is: rows and an attempt in, formulas out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from attrs import frozen

from sciharness_symbolic_regression.samples.sample import Sample


@frozen
class Attempt:
    """One bounded piece of search; the same attempt on the same rows finds the same formulas.

    ``operators`` are names of the request, ``max_complexity`` counts nodes as
    :func:`sciharness_publisher.expression.complexity` does, ``loss`` is
    ``squared`` or ``huber``. ``stage`` is for engines that work in several ways;
    ``view`` names the way in which :mod:`.units` looks at the columns, 0 is as they are.
    """

    engine: str
    seed: int
    operators: tuple[str, ...]
    max_complexity: int
    max_evaluations: int
    loss: str = "squared"
    stage: str = ""
    starts: tuple[str, ...] = ()
    view: int = 0


@frozen
class Findings:
    """What an attempt found: formula texts over the sample's symbols, and what it cost.

    ``exact`` says that one of them fits to the precision the engine works in;
    ``error`` is the best root mean square error relative to the target's spread.
    """

    formulas: tuple[str, ...] = ()
    evaluations: int = 0
    error: float = 1.0
    exact: bool = False


Report = Callable[[Findings], None]


def no_report(findings: Findings) -> None:
    """Tell nobody."""


class Engine(Protocol):
    """A way to find formulas. It runs in a child process that may be killed at any time."""

    name: str
    operators: frozenset[str]

    def unavailable(self) -> str | None:
        """Return why the engine cannot run here, or None; imports and downloads nothing."""

    def search(self, sample: Sample, attempt: Attempt, report: Report) -> Findings:
        """Return what the attempt finds; tell ``report`` now and then what there is so far.

        Work is bounded by counts, never by the clock, and one attempt uses one
        thread, so that the result does not depend on the machine's load.
        """
