"""What a family of models is to the selection, and what a fit gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_publisher.predictor import Column, Interval, Model
from sciharness_tabular.rows import Array, Rows

Setting = Mapping[str, float | int]


@frozen
class Means:
    """What a fit may use: the seed of everything random, and threads."""

    seed: int
    workers: int


@frozen
class Frame:
    """What a model is told beside its numbers: names, ranges, units, the band."""

    target: str
    unit: str | None
    columns: tuple[Column, ...]
    out_of_domain: Literal["flag", "refuse"]
    interval: Interval | None


@frozen
class FitRecord:
    """One fit by scikit-learn, told so that anyone can repeat it.

    ``parameters`` are those that differ from the estimator's defaults,
    ``columns`` counts the columns it was given.
    """

    estimator: str
    parameters: Mapping[str, Any]  # Any: JSON values
    rows: int
    columns: int


class Fitted(Protocol):
    """A fitted model: its predictions by scikit-learn, and its form for the publisher."""

    @property
    def record(self) -> FitRecord:
        """What was fitted on how much."""

    def outputs(self, features: Array) -> Array:
        """Return the scaled target (rows, 1), or a probability per class (rows, classes)."""

    def model(self, frame: Frame) -> Model:
        """Return the model in the unit of the target.

        Raises:
            ExportError: scikit-learn holds the model in a form that is not known.
        """


@frozen(eq=False)
class Trial:
    """One fit and its outputs on held-out rows, for each setting that the fit covers."""

    record: FitRecord
    outputs: tuple[tuple[Setting, Array], ...]


class Family(Protocol):
    """One family of models; ``name`` is its word in requests and records."""

    @property
    def name(self) -> str:
        """The family's word."""

    def reason_against(self, rows: Rows) -> str:
        """Return why the family is not for these rows, empty if it is."""

    def trials(self, rows: Rows, held_out: Array, means: Means) -> Iterator[Trial]:
        """Yield fits on ``rows`` that together cover all settings, and what they predict."""

    def fit(self, rows: Rows, setting: Setting, means: Means) -> Fitted:
        """Return the family fitted under one setting."""


def aligned(chances: Array, present: NDArray[np.int64], classes: int) -> Array:
    """Return probabilities (rows, classes) of all classes; one that was not fitted gets 0."""
    if chances.shape[1] == classes:
        return chances
    every = np.zeros((len(chances), classes))
    every[:, present] = chances
    return every
