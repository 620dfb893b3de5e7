"""Classifiers on derived features that the predictor writer takes: sums, kernels, trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from attrs import field, frozen

from sciharness_publisher.predictor import Column, Interval

Json = dict[str, Any]  # Any: JSON values
Feature = tuple[str | int, ...]


def _floats(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(map(float, values))


@frozen
class DerivedModel:
    """The chance of the second of two classes: a score of derived features, made a probability.

    Columns are taken less ``centre`` and over ``scale``. Each of ``features``
    is a kind with places of columns: ``("product", 0, 0)``,
    ``("radius", 0, 1)``, ``("sine", 0, 1)`` and ``("cosine", 0, 1)``; it is taken
    less its ``shift`` and over its ``spread``. ``body`` gives the score:
    ``linear`` (weights, offset), ``kernel`` (points, weights, width, offset) or
    ``trees`` (trees, offset). The probability is the logistic function of
    ``slope`` times score plus ``level``.
    """

    target: str
    columns: tuple[Column, ...]
    centre: tuple[float, ...] = field(converter=_floats)
    scale: tuple[float, ...] = field(converter=_floats)
    features: tuple[Feature, ...]
    shift: tuple[float, ...] = field(converter=_floats)
    spread: tuple[float, ...] = field(converter=_floats)
    body: Mapping[str, Any]  # Any: JSON values
    slope: float = 1.0
    level: float = 0.0
    unit: str | None = None
    out_of_domain: Literal["flag", "refuse"] = "flag"
    interval: Interval | None = None
    kind: str = field(default="derived", init=False)
    inference: str = field(default="derived", init=False)

    def payload(self) -> Json:
        """Return scaling, features and what makes the score."""
        return {
            "link": "sigmoid",
            "centre": list(self.centre),
            "scale": list(self.scale),
            "features": [list(feature) for feature in self.features],
            "shift": list(self.shift),
            "spread": list(self.spread),
            "slope": self.slope,
            "level": self.level,
            "body": dict(self.body),
        }

    def describe(self) -> str:
        """Return what the model is in a sentence."""
        made = {
            "linear": "a weighted sum",
            "kernel": f"a sum of {len(self.body.get('points', ()))} Gaussian bells",
            "trees": f"a sum of {len(self.body.get('trees', ()))} decision trees",
        }[self.body["kind"]]
        return (
            f"The model is {made} over {len(self.features)} features derived of "
            f"{len(self.columns)} columns, made into a calibrated probability."
        )
