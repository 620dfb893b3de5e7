"""What a caller may set for ``train_survival_model``."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen
from attrs.validators import ge, in_, le, min_len

Family = Literal["kernel", "polynomial", "boosting"]
FAMILIES: tuple[Family, ...] = ("kernel", "polynomial", "boosting")


@frozen
class TrainRequest:
    """Settings of ``train_survival_model``."""

    models: tuple[Family, ...] = field(
        default=FAMILIES,
        validator=min_len(1),
        metadata={
            "help": "Models to compare: kernel (support vectors with Gaussian bells), polynomial "
            "(logistic regression on products), boosting (trees on squares, radii and angles)."
        },
    )
    folds: int = field(
        default=5,
        validator=[ge(2), le(20)],
        metadata={"help": "Folds of the cross-validation that chooses and calibrates."},
    )
    out_of_domain: Literal["flag", "refuse"] = field(
        default="flag",
        validator=in_(("flag", "refuse")),
        metadata={"help": "What the predictor does with rows outside the training ranges."},
    )
