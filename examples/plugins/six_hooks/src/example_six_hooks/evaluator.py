"""An evaluator: which share of the predictions lies within a relative tolerance."""

import csv
from pathlib import Path

from attrs import field, frozen
from attrs.validators import gt

from sciharness import Context, Evaluator, Outcome


@frozen
class WithinRequest:
    """Parameters: the tolerance, relative to the true value."""

    tolerance: float = field(default=0.05, validator=gt(0.0), metadata={"help": "relative error"})


def within(request: WithinRequest, context: Context) -> Outcome:
    """Return the share of rows whose prediction lies within the tolerance."""
    labels = context.inputs["labels"]
    true = _column(labels.path, labels.meta["target"])
    predicted = _column(context.inputs["predictions"].path, "prediction")
    near = [abs(predicted[row] - y) <= request.tolerance * abs(y) for row, y in true.items()]
    return Outcome({"share_within": sum(near) / len(near)})


def _column(path: Path, name: str) -> dict[str, float]:
    with path.open(newline="", encoding="utf-8") as lines:
        return {row["sample_id"]: float(row[name]) for row in csv.DictReader(lines)}


WITHIN = Evaluator(
    operation="within",
    run=within,
    request=WithinRequest,
    summary="Tells which share of the predictions lies within a tolerance.",
    task="regression",
    metrics=("share_within",),
    trusted_metrics=("share_within",),
)
