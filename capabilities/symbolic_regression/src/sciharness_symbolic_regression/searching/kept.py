"""Finished pieces of a search, kept over a kill: the next attempt does not run them again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import astuple, define, field

from sciharness.plugin import Context
from sciharness_symbolic_regression.engines.base import Attempt
from sciharness_symbolic_regression.samples.sample import Sample
from sciharness_symbolic_regression.samples.sources import versions
from sciharness_symbolic_regression.searching.race import Job

PIECES = "pieces.jsonl"

Json = Mapping[str, Any]  # Any: JSON values
News = Callable[[int, Json], None]


@define
class Kept:
    """What pieces of work gave, by attempt, in the checkpoint of an action.

    An attempt on the same rows with the same libraries gives the same, so what it
    gave before stands for it. Only whole pieces are kept, one a line.
    """

    context: Context
    found: dict[str, Json] = field(factory=dict)
    rows: str = ""

    @classmethod
    def of(cls, context: Context, sample: Sample) -> Kept:
        """Return what an attempt before has kept, if there was one on the same rows."""
        kept = cls(context, rows=_digest(sample))
        folder = context.restored
        path = None if folder is None else folder / PIECES
        if path is not None and path.is_file():
            kept.found = {key: value for key, value in map(_read, path.open("rb")) if key}
            for key, value in kept.found.items():  # a checkpoint comes back only once
                kept._write(key, value)
        return kept

    def jobs(self, attempts: Sequence[Attempt], jobs: Sequence[Job]) -> list[Job]:
        """Return jobs that give at once what has been kept."""
        known = [self.found.get(self._key(one)) for one in attempts]
        return [
            job if value is None else _giving(value) for job, value in zip(jobs, known, strict=True)
        ]

    def hearing(self, attempts: Sequence[Attempt], news: News) -> News:
        """Return what hears of pieces, keeps the finished ones and passes everything on."""
        keys = [self._key(one) for one in attempts]

        def hear(index: int, said: Json) -> None:
            if said.get("ended", True) and keys[index] not in self.found:
                self.found[keys[index]] = said
                self._write(keys[index], said)
            news(index, said)

        return hear

    def _key(self, attempt: Attempt) -> str:
        text = json.dumps([self.rows, *astuple(attempt)])
        return hashlib.sha256(text.encode()).hexdigest()

    def _write(self, key: str, value: Json) -> None:
        path = self.context.checkpoint() / PIECES
        with path.open("ab") as stream:
            stream.write(json.dumps([key, value], allow_nan=False).encode() + b"\n")


def _giving(value: Json) -> Job:
    return lambda say: value


def _read(line: bytes) -> tuple[str, Json]:
    """Return a kept piece; an empty key for a line that was cut short by a kill, or is none."""
    try:
        key, value = json.loads(line)
    except (ValueError, TypeError):
        return "", {}
    return (key, value) if isinstance(key, str) and isinstance(value, dict) else ("", {})


def _digest(sample: Sample) -> str:
    """Return what tells samples and libraries apart."""
    found = hashlib.sha256(json.dumps([versions(), list(sample.symbols), sample.noise]).encode())
    for column in (*sample.columns.values(), sample.target, sample.weights):
        found.update(column.tobytes())
    return found.hexdigest()
