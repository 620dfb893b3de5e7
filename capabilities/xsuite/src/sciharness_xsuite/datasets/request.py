"""What a caller may set for ``generate_stability_dataset``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen
from attrs.validators import ge, le

from sciharness_xsuite import settings
from sciharness_xsuite.settings import Coordinate, Maps

LEAST_EVALUATION = 2_000
MOST_PARTICLES = 1_000_000


@frozen
class StabilityRequest:
    """Settings of ``generate_stability_dataset``."""

    dataset_role: Literal["training", "evaluation"] = field(
        default="training",
        metadata={
            "help": "training may concentrate near the boundary; evaluation is always uniform, "
            "takes the predictor that it is made for, and is the step of holdout.generated_by."
        },
    )
    num_turns: int = settings.turns(128)
    num_particles: int = field(
        default=2_000,
        validator=[ge(10), le(MOST_PARTICLES)],
        metadata={"help": f"Particles to track; at least {LEAST_EVALUATION:,} for evaluation."},
    )
    domain: Mapping[Coordinate, tuple[float, float]] = field(
        factory=dict,
        metadata={
            "help": "Range of each coordinate that varies (x, y, zeta in m; px, py, delta "
            "relative to the reference momentum). With given particles: their ranges."
        },
    )
    fixed: Mapping[Coordinate, float] = field(
        factory=dict, metadata={"help": "Values of other coordinates; those not named are 0."}
    )
    sampling: Literal["auto", "uniform", "adaptive"] = field(
        default="auto",
        metadata={
            "help": "uniform over the domain, or adaptive: most particles near the boundary of "
            "survival. auto: adaptive for training, uniform for evaluation."
        },
    )
    uniform_share: float = field(
        default=0.4,
        validator=[ge(0.05), le(1.0)],
        metadata={"help": "Share of an adaptive set that is spread evenly first."},
    )
    maps: Maps = field(default="exact", metadata=settings.MAPS)
