"""The table of samples: what was asked, what was answered, and what failed."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from sciharness.errors import DataError

Array = NDArray[np.float64]

DESIGN, ADAPTIVE, CALIBRATION = "design", "adaptive", "calibration"
STAGE, FAILURE = "stage", "failure"


def _texts(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(values)


@frozen(eq=False)
class Samples:
    """Cases of a solver: inputs (n, inputs), outputs (n, outputs; NaN for a failure).

    ``stages`` (n,) says which part of the design a case is of; ``failures``
    (n,) holds the reason, empty where the solver answered.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    asked: Array
    answered: Array
    stages: tuple[str, ...] = field(converter=_texts)
    failures: tuple[str, ...] = field(converter=_texts)

    def of(self, *stages: str) -> NDArray[np.bool_]:
        """Return which cases are of these stages."""
        return np.array([stage in stages for stage in self.stages], dtype=bool)

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which cases have no answer."""
        return np.array([bool(reason) for reason in self.failures], dtype=bool)


def write_samples(path: Path, samples: Samples) -> None:
    """Write a strict CSV: sample_id, inputs, outputs, stage, failure; no output of a failure."""
    header = ["sample_id", *samples.inputs, *samples.outputs, STAGE, FAILURE]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        for row, failure in enumerate(samples.failures):
            given = [repr(float(value)) for value in samples.asked[row]]
            found = [repr(float(value)) for value in samples.answered[row]]
            blank = [""] * len(samples.outputs)
            shown = blank if failure else found
            writer.writerow([row, *given, *shown, samples.stages[row], failure])


def read_samples(path: Path, inputs: Sequence[str], outputs: Sequence[str]) -> Samples:
    """Return the samples of a table that :func:`write_samples` has written.

    Raises:
        DataError: it is no such table, or of another solver.
    """
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            header, *rows = list(csv.reader(stream, strict=True)) or [[]]
    except (UnicodeDecodeError, csv.Error) as error:
        raise _no_samples(f"no strict CSV: {error}") from error
    expected = ["sample_id", *inputs, *outputs, STAGE, FAILURE]
    if header != expected:
        raise _no_samples(f"expected the columns {', '.join(expected)}, found {', '.join(header)}")
    last, width = len(inputs) + 1, len(expected)
    try:
        asked = [[float(text) for text in row[1:last]] for row in rows]
        answered = [[float(text or "nan") for text in row[last : width - 2]] for row in rows]
        stages = [row[-2] for row in rows if len(row) == width]
    except (ValueError, IndexError) as error:
        raise _no_samples(str(error)) from error
    if len(stages) != len(rows) or not rows:
        raise _no_samples("a row of another length, or no row")
    return Samples(
        tuple(inputs),
        tuple(outputs),
        np.array(asked, dtype=np.float64),
        np.array(answered, dtype=np.float64),
        tuple(stages),
        tuple(row[-1] for row in rows),
    )


def _no_samples(reason: str) -> DataError:
    return DataError(
        f"is no table of samples: {reason}",
        where="data",
        hint="Bind what file_solver.sample has written for this solver.",
    )


def case_digest(bundle_sha256: str, setting: Mapping[str, Any], row: Sequence[float]) -> str:
    """Return the digest of one question to one solver; equal ones have equal answers."""
    said = {key: value for key, value in setting.items() if key != "case_seconds"}
    facts = [bundle_sha256, said, [repr(float(value)) for value in row]]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
