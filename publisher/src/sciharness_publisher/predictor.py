"""Write a predictor by file-predictor-v1: model, inference source, card, example and guide."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, Protocol

from attrs import asdict, field, frozen

from sciharness.plugin import PREDICTOR_OUTPUTS, Context
from sciharness_publisher.example import minimal_example
from sciharness_publisher.guide import usage_guide
from sciharness_publisher.sources import inference_source

CARD_SCHEMA = "file-predictor-v1"
MODEL_SCHEMA = "predictor-model-v1"

Json = dict[str, Any]  # Any: JSON values


@frozen
class Column:
    """One input column: its name in the table, its name in the formula, its training range."""

    name: str
    symbol: str
    minimum: float
    maximum: float
    unit: str | None = None
    dtype: str = "float64"


@frozen
class Interval:
    """A band around every prediction that held ``level`` (0..1) of rows kept from the fit."""

    level: float
    half_width: float


class Model(Protocol):
    """What the writer needs of a model; each family of models is one record like this.

    ``inference`` names the part of :mod:`sciharness_publisher.inference` that
    computes its predictions; ``payload`` gives what that part reads from
    model.json beside the common fields.
    """

    @property
    def target(self) -> str:
        """Name of the predicted column."""

    @property
    def unit(self) -> str | None:
        """Unit of the predicted column."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The input columns."""

    @property
    def out_of_domain(self) -> Literal["flag", "refuse"]:
        """What is done with a row outside the training ranges."""

    @property
    def interval(self) -> Interval | None:
        """The band around predictions, if one is known."""

    @property
    def kind(self) -> str:
        """The family's word in model.json."""

    @property
    def inference(self) -> str:
        """Name of the inference part."""

    def payload(self) -> Json:
        """Return the fields of model.json that are this family's own."""

    def describe(self) -> str:
        """Return one sentence for the guide: what the model is."""


@frozen
class FormulaModel:
    """A formula over the symbols of its columns, in the grammar of the expression module."""

    target: str
    columns: tuple[Column, ...]
    formula: str
    unit: str | None = None
    out_of_domain: Literal["flag", "refuse"] = "flag"
    interval: Interval | None = None
    kind: str = field(default="formula", init=False)
    inference: str = field(default="closed_form", init=False)

    def payload(self) -> Json:
        """Return the formula text."""
        return {"formula": self.formula}

    def describe(self) -> str:
        """Return the formula in a sentence."""
        return f"The model is the formula `{self.target} = {self.formula}`."


@frozen
class LinearModel:
    """Intercept plus coefficient times column, one coefficient per column in order."""

    target: str
    columns: tuple[Column, ...]
    intercept: float
    coefficients: tuple[float, ...]
    unit: str | None = None
    out_of_domain: Literal["flag", "refuse"] = "flag"
    interval: Interval | None = None
    kind: str = field(default="linear", init=False)
    inference: str = field(default="closed_form", init=False)

    def payload(self) -> Json:
        """Return intercept and coefficients."""
        return {"intercept": self.intercept, "coefficients": list(self.coefficients)}

    def describe(self) -> str:
        """Return what the model is in a sentence."""
        return f"The model is a linear sum of {len(self.columns)} columns and an intercept."


@frozen
class CardMetric:
    """A metric on training or validation rows; final rows never appear in a card."""

    name: str
    value: float
    source: Literal["training", "validation"]
    rows: int


@frozen
class Card:
    """What a model card says beyond the model itself.

    ``training_sha256`` is the digest of the training file's bytes, ``versions``
    maps distributions to versions, ``limits`` are sentences about what the
    model must not be used for.
    """

    training_sha256: str
    seed: int
    metrics: tuple[CardMetric, ...] = ()
    versions: Mapping[str, str] = field(factory=dict)
    limits: tuple[str, ...] = ()
    task: Literal["regression", "classification"] = "regression"
    classes: tuple[str, ...] = ()


def write_predictor(context: Context, model: Model, card: Card) -> None:
    """Write model.json, inference.py, model_card.json, minimal_example.py and usage_guide.md.

    The files go through ``context.output`` under their artifact types. Equal
    model and card give equal bytes.

    Raises:
        ValueError: a value is not finite, so it cannot stand in JSON.
    """
    texts = {
        "model.json": _line_by_line(model_document(model, card)),
        "inference.py": inference_source(model.inference),
        "model_card.json": _json(card_document(model, card)),
        "minimal_example.py": minimal_example(model),
        "usage_guide.md": usage_guide(model, card),
    }
    write_texts(context, texts)


def write_texts(context: Context, texts: Mapping[str, str]) -> None:
    """Write the files of a predictor, given by name, under their artifact types."""
    for output in PREDICTOR_OUTPUTS:
        path = context.output(output.name, output.type)
        path.write_text(texts[output.name], encoding="utf-8", newline="\n")


def _target(model: Model, card: Card) -> Json:
    return {"name": model.target, "unit": model.unit, "classes": list(card.classes)}


def model_document(model: Model, card: Card) -> Json:
    """Return model.json as plain values."""
    return {
        "schema": MODEL_SCHEMA,
        "kind": model.kind,
        "task": card.task,
        "target": _target(model, card),
        "columns": [
            {"name": column.name, "symbol": column.symbol, "unit": column.unit,
             "min": column.minimum, "max": column.maximum}
            for column in model.columns
        ],
        "out_of_domain": model.out_of_domain,
        "interval": asdict(model.interval) if model.interval else None,
        **model.payload(),
    }  # fmt: skip


def card_document(model: Model, card: Card) -> Json:
    """Return model_card.json as plain values."""
    return {
        "schema": CARD_SCHEMA,
        "task": card.task,
        "target": _target(model, card),
        "columns": [
            {"name": column.name, "dtype": column.dtype, "unit": column.unit,
             "min": column.minimum, "max": column.maximum}
            for column in model.columns
        ],
        "out_of_domain": model.out_of_domain,
        "metrics": [asdict(metric) for metric in card.metrics],
        "training_sha256": card.training_sha256,
        "seed": card.seed,
        "versions": dict(sorted(card.versions.items())),
        "limits": list(card.limits),
    }  # fmt: skip


def _line_by_line(document: Json) -> str:
    """Return JSON with one line per field, and per entry of a list of lists or objects.

    A model may hold a million numbers: one a line would be slow, and no help to a reader.
    """
    fields = (f"  {_compact(name)}: {_field(value)}" for name, value in document.items())
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _field(value: Any) -> str:  # Any: a JSON value
    if isinstance(value, list) and value and isinstance(value[0], list | dict):
        return "[\n    " + ",\n    ".join(map(_compact, value)) + "\n  ]"
    return _compact(value)


def _compact(value: Any) -> str:  # Any: a JSON value
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _json(document: Json) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
