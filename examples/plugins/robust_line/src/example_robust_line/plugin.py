"""Registers `example.robust_line.fit`."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from typing import TYPE_CHECKING

from attrs import field, frozen
from attrs.validators import ge, gt

from sciharness import (
    PREDICTOR_OUTPUTS,
    Capability,
    Context,
    Input,
    InputSpec,
    Outcome,
    hookimpl,
)

if TYPE_CHECKING:
    from example_robust_line.huber import Line
    from sciharness_publisher.predictor import LinearModel

HOOK_API = 1


@frozen
class FitRequest:
    """Parameters of the fit."""

    tuning: float = field(
        default=1.345,
        validator=gt(0.0),
        metadata={"help": "residual, in robust standard deviations, from which a row counts less"},
    )
    max_iterations: int = field(
        default=100, validator=ge(1), metadata={"help": "after which the fit stops"}
    )


def fit(request: FitRequest, context: Context) -> Outcome:
    """Fit the visible rows and write a predictor."""
    # numpy takes a tenth of a second to load: a worker that only describes does not need it.
    import numpy as np

    from example_robust_line import huber
    from sciharness import read_table

    arrays = read_table(context.inputs["data"])
    line = huber.fit(
        arrays.X,
        np.asarray(arrays.y, dtype=float),
        tuning=request.tuning,
        max_iterations=request.max_iterations,
        stop=lambda: context.cancelled,
    )
    write(context, context.inputs["data"], line)
    notes = () if line.settled else (f"not settled after {line.iterations} iterations",)
    metrics = {
        "outliers": float(line.outliers),
        "scale": line.scale,
        "iterations": float(line.iterations),
    }
    return Outcome(metrics, (f"{line.outliers} rows lie far off the line", *notes))


def write(context: Context, data: Input, line: Line) -> None:
    """Write the predictor: model, inference program, card, example and guide."""
    from sciharness_publisher.predictor import Card, write_predictor

    card = Card(
        training_sha256=hashlib.sha256(data.path.read_bytes()).hexdigest(),
        seed=context.seed,
        versions={name: version(name) for name in ("example-robust-line", "numpy")},
        limits=("Made for rows some of which are grossly wrong; it does not tell which.",),
    )
    write_predictor(context, model(data, line), card)


def model(data: Input, line: Line) -> LinearModel:
    """Return the line as the predictor writer takes it, with the ranges it was fitted in."""
    from sciharness import read_table
    from sciharness_publisher.predictor import Column, LinearModel

    arrays = read_table(data)
    columns = tuple(
        Column(
            name=name,
            symbol=f"X{place + 1}",
            minimum=float(arrays.X[:, place].min()),
            maximum=float(arrays.X[:, place].max()),
            unit=arrays.units.get(name),
        )
        for place, name in enumerate(arrays.features)
    )
    return LinearModel(
        target=str(arrays.target),
        columns=columns,
        intercept=line.intercept,
        coefficients=tuple(map(float, line.coefficients)),
        unit=arrays.units.get(str(arrays.target)),
    )


@hookimpl
def harness_capabilities() -> list[Capability]:
    """Return what a contract may lease."""
    return [
        Capability(
            operation="fit",
            run=fit,
            request=FitRequest,
            summary="Fits a line through data with gross errors.",
            group="execution and training",
            inputs=(InputSpec("data", ("labelled_table",), summary="numeric columns"),),
            outputs=PREDICTOR_OUTPUTS,
            metrics=("outliers", "scale", "iterations"),
        )
    ]
