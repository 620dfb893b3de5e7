"""A second look at candidates: fitted and judged by other means than the rows searched on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sciharness_symbolic_regression.finishing.candidates import Candidate
from sciharness_symbolic_regression.finishing.credibility import Constant
from sciharness_symbolic_regression.formulas.forms import Sum
from sciharness_symbolic_regression.samples.sample import Rows


class SecondLook(Protocol):
    """What judges candidates where rows of a table do not say all, such as laws of motion."""

    def rows(self, rows: Rows) -> Rows:
        """Return the rows with the error below which this look's losses are equal."""

    def candidates(self, found: Sequence[Candidate]) -> list[Candidate]:
        """Return candidates with constants and losses of this look."""

    def final(self, form: Sum) -> tuple[Sum, tuple[Constant, ...]]:
        """Return a form with its constants of everything that is known, and their intervals."""
