"""What a caller may set for the operations of this plugin."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen, validators

ModelName = Literal["linear", "quadratic", "cubic", "boosting", "forest"]
ALL_MODELS: tuple[ModelName, ...] = ("linear", "quadratic", "cubic", "boosting", "forest")


@frozen
class DescribeRequest:
    """Settings of ``tabular.describe``."""

    near_constant: float = field(
        default=0.99,
        validator=[validators.ge(0.5), validators.le(1.0)],
        metadata={"help": "A column is near-constant if one value has at least this share."},
    )
    strong_correlation: float = field(
        default=0.95,
        validator=[validators.gt(0.0), validators.le(1.0)],
        metadata={"help": "Two columns go together strongly from this |correlation| on."},
    )
    rank_rows: int = field(
        default=200_000,
        validator=[validators.ge(100), validators.le(10_000_000)],
        metadata={"help": "Rows, drawn by the seed, that Spearman correlations are taken of."},
    )


@frozen
class TrainRequest:
    """Settings of ``tabular.train``; every one has a default that suits most tables.

    Work is bounded by counts, so a result does not depend on the machine's
    speed; only ``time_limit`` and a cancelled run end it earlier.
    """

    models: tuple[ModelName, ...] = field(
        default=ALL_MODELS,
        validator=validators.min_len(1),
        metadata={
            "help": "Models to compare: linear (ridge or logistic), quadratic and cubic (the same "
            "on products of columns), boosting (histogram gradient boosting), forest (extremely "
            "randomised trees)."
        },
    )
    folds: int = field(
        default=5,
        validator=[validators.ge(2), validators.le(50)],
        metadata={"help": "Folds of the cross-validation; groups and equal rows stay together."},
    )
    iterations: int = field(
        default=300,
        validator=[validators.ge(10), validators.le(10_000)],
        metadata={"help": "Most iterations of boosting; fewer are compared too."},
    )
    interval: float = field(
        default=0.9,
        validator=[validators.gt(0.0), validators.lt(1.0)],
        metadata={"help": "Share of rows that the band lower..upper is to hold (regression)."},
    )
    balance: bool = field(
        default=False,
        metadata={"help": "Give every class the same total weight (classification)."},
    )
    selection_rows: int = field(
        default=100_000,
        validator=[validators.ge(100), validators.le(10_000_000)],
        metadata={"help": "Rows, drawn by the seed, to compare models on; the final fit uses all."},
    )
    out_of_domain: Literal["flag", "refuse"] = field(
        default="flag",
        metadata={"help": "What the predictor does with rows outside the training ranges."},
    )
    time_limit: float | None = field(
        default=None,
        validator=validators.optional(validators.gt(0)),
        metadata={"help": "Seconds after which the best so far is taken; then not reproducible."},
    )
