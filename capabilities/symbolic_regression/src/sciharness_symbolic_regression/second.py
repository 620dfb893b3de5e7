"""A second look at candidates: fitted and judged by other means than the rows searched on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sciharness_symbolic_regression.candidates import Candidate, Rows
from sciharness_symbolic_regression.credibility import Constant
from sciharness_symbolic_regression.forms import Sum


class SecondLook(Protocol):
    """What judges candidates where rows of a table do not say all, such as laws of motion."""

    def rows(self, rows: Rows) -> Rows:
        """Return the rows with the error below which this look's losses are equal."""

    def candidates(self, found: Sequence[Candidate]) -> list[Candidate]:
        """Return candidates with constants and losses of this look."""

    def final(self, form: Sum) -> tuple[Sum, tuple[Constant, ...]]:
        """Return a form with its constants of everything that is known, and their intervals."""
