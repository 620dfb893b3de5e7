"""What a caller may set for ``convergence``."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen
from attrs.validators import ge, gt, le, min_len

from sciharness_xsuite import settings
from sciharness_xsuite.settings import Coordinate

MOST_KICKS = 2_000


def _rising(instance: object, attribute: object, kicks: tuple[int, ...]) -> None:
    if list(kicks) != sorted(set(kicks)) or kicks[0] < 1 or kicks[-1] > MOST_KICKS:
        raise ValueError(f"kicks: expected rising numbers from 1 to {MOST_KICKS}, got {kicks}")


@frozen
class ConvergenceRequest:
    """Settings of ``convergence``."""

    kicks: tuple[int, ...] = field(
        default=(7, 21, 63, 189),
        validator=[min_len(1), _rising],
        metadata={"help": "Kick counts to compare; the last one is what the others are held to."},
    )
    num_turns: int = settings.turns(128, "Turns of the particles whose survival is compared.")
    num_particles: int = field(
        default=400,
        validator=[ge(0), le(1_000_000)],
        metadata={"help": "Particles whose survival is compared; 0 compares optics alone."},
    )
    domain: Mapping[Coordinate, tuple[float, float]] = field(
        factory=lambda: {"x": (0.0, 0.05), "y": (0.0, 0.05)},
        metadata={"help": "Domain of their start values, drawn evenly."},
    )
    tune_tolerance: float = field(
        default=1e-5, validator=gt(0.0), metadata={"help": "Change of a tune that is allowed."}
    )
    chromaticity_tolerance: float = field(
        default=1e-2,
        validator=gt(0.0),
        metadata={"help": "Change of a chromaticity that is allowed."},
    )
    survival_tolerance: float = field(
        default=0.01,
        validator=[ge(0.0), le(1.0)],
        metadata={"help": "Share of particles whose fate may change."},
    )
