"""Asking a solver: several calls side by side, each question once, every answer kept."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from sciharness.plugin import Context
from sciharness_file_solver.sampling.table import case_digest
from sciharness_file_solver.shipped.calling import Answer, solve
from sciharness_file_solver.solver import SolverInput

Array = NDArray[np.float64]
KEPT = "cases.jsonl"


@define
class Asking:
    """Answers of a solver by the digest of the question; they outlive a kill of the action.

    Every case that the solver is given is charged as one of ``solver_calls``.
    """

    context: Context
    solver: SolverInput
    scratch: Path
    total: int
    bundle: str
    calls: int = 0
    _began: float = field(factory=time.monotonic)
    _known: dict[str, Answer] = field(factory=dict)
    _rounds: int = 0

    @classmethod
    def of(cls, context: Context, solver: SolverInput, total: int) -> Asking:
        """Return an asking that knows the answers of an earlier attempt."""
        scratch = context.workspace / "solver"
        made = cls(context, solver, scratch, total, solver.bundle_sha256())
        if context.restored is not None and (context.restored / KEPT).is_file():
            with (context.restored / KEPT).open(encoding="utf-8") as lines:
                made._known = dict(_complete(lines.readlines()))
            _write(made._file(), made._known.items())
        return made

    def stopped(self) -> bool:
        """Whether it is time to come to an end."""
        limit = self.context.time_limit
        late = limit is not None and time.monotonic() - self._began > limit
        return late or self.context.cancelled

    def ask(self, rows: Array) -> list[Answer | None]:
        """Return the answer to each row, ``None`` where the action was stopped before.

        Raises:
            SolverFailed: the solver cannot be called, or fails whatever it is asked.
        """
        digests = [case_digest(self.bundle, self.solver.setting, list(row)) for row in rows]
        new = {digest: place for place, digest in enumerate(digests) if digest not in self._known}
        asked, keys = [list(rows[place]) for place in new.values()], list(new)
        if asked:
            self._solve(asked, keys)
        return [self._known.get(digest) for digest in digests]

    def _solve(self, asked: list[list[float]], keys: Sequence[str]) -> None:
        def heard(places: Sequence[int], answers: Sequence[Answer]) -> None:
            found = [(keys[place], answer) for place, answer in zip(places, answers, strict=True)]
            self._known.update(found)
            _write(self._file(), found)
            self.calls += len(found)
            self.context.charge(solver_calls=len(found))
            failed = sum(isinstance(answer, str) for answer in self._known.values())
            self.context.progress(
                min(1.0, len(self._known) / self.total),
                f"{len(self._known)} of {self.total} cases",
                failures=float(failed),
            )

        self._rounds += 1
        place = self.scratch / f"round{self._rounds}"
        slots = self.context.workers
        solve(self.solver.setting, self.solver.root, place, asked, slots, heard, self.stopped)

    def _file(self) -> Path:
        return self.context.checkpoint() / KEPT


def _write(path: Path, found: Iterable[tuple[str, Answer]]) -> None:
    with path.open("a", encoding="utf-8") as stream:
        for item in found:
            stream.write(json.dumps(item) + "\n")


def _complete(lines: Sequence[str]) -> list[tuple[str, Answer]]:
    """Return the whole lines: a kill may have cut the last one."""
    whole = (json.loads(line) for line in lines if line.endswith("\n"))
    return [(key, answer) for key, answer in whole]
