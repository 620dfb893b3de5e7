"""What a caller may set for reading, optics and tracking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen, validators

from sciharness_xsuite import settings
from sciharness_xsuite.settings import Coordinate, Maps

Method = Literal["auto", "4d", "6d"]
MOST_PARTICLES = 20_000_000
MOST_TURNS = 1_000_000_000


def _positive(maximum: float) -> Any:  # Any: validators have no common type
    return [validators.gt(0), validators.le(maximum)]


@frozen
class LoadCheckRequest:
    """Settings of ``beam.xsuite.load_check``."""

    optics: bool = field(default=True, metadata={"help": "Also say whether the optics is stable."})


@frozen
class MadxRequest:
    """Settings of ``beam.xsuite.madx_to_xsuite_json``."""

    main_file: str = field(
        default="",
        metadata={"help": "The file to start with, if the input is a folder of several."},
    )
    sequence: str = field(
        default="", metadata={"help": "The sequence to take, if the files define several."}
    )
    particle: Literal["", "proton", "electron", "positron", "antiproton"] = field(
        default="", metadata={"help": "Reference particle, if the files have no BEAM statement."}
    )
    p0c_ev: float | None = field(
        default=None,
        validator=validators.optional(_positive(1e18)),
        metadata={"help": "Momentum times c in eV, with `particle`."},
    )


@frozen
class TwissRequest:
    """Settings of ``beam.xsuite.twiss``."""

    method: Method = field(
        default="auto", metadata={"help": "auto: 6D where a cavity works, else 4D."}
    )
    maps: Maps = field(default="exact", metadata=settings.MAPS)


@frozen
class RandomSet:
    """Points drawn by the seed, uniform in their ranges."""

    count: int = field(validator=_positive(MOST_PARTICLES), metadata={"help": "How many points."})
    ranges: Mapping[Coordinate, tuple[float, float]] = field(
        metadata={"help": "Lowest and highest value by coordinate."}
    )


@frozen
class PolarSet:
    """Points on rays in the plane of x and y: angles times radii."""

    r_max: float = field(validator=validators.gt(0), metadata={"help": "Outer radius."})
    r_min: float = field(
        default=0.0, validator=validators.ge(0), metadata={"help": "Inner radius, left out if 0."}
    )
    radii: int = field(
        default=20, validator=_positive(100_000), metadata={"help": "Points on each ray."}
    )
    angles: int = field(default=9, validator=_positive(10_000), metadata={"help": "Rays."})
    angle_min_deg: float = field(default=0.0, metadata={"help": "0 is along x, 90 along y."})
    angle_max_deg: float = field(default=90.0, metadata={"help": "Angle of the last ray."})
    endpoints: bool = field(
        default=True, metadata={"help": "Whether rays lie on both end angles, else between them."}
    )


@frozen
class TrackRequest:
    """Settings of ``beam.xsuite.track``: where particles come from, and how far they go.

    Particles come from exactly one of the input ``particles``, ``points``,
    ``grid``, ``random`` and ``polar``, or go on from the input ``previous``.
    """

    num_turns: int = field(
        validator=_positive(MOST_TURNS), metadata={"help": "Turns in all, counted from the start."}
    )
    points: Mapping[Coordinate, float | tuple[float, ...]] = field(
        factory=dict, metadata={"help": "Lists of equal length, or one number for all."}
    )
    grid: Mapping[Coordinate, tuple[float, float, int]] = field(
        factory=dict, metadata={"help": "Lowest, highest, count: every combination is tracked."}
    )
    random: RandomSet | None = field(
        default=None, metadata={"help": "Points drawn by the seed, uniform in their ranges."}
    )
    polar: PolarSet | None = field(default=None, metadata={"help": "Rays in the plane of x and y."})
    offset: Mapping[Coordinate, float] = field(
        factory=dict, metadata={"help": "Added to every particle, such as delta: 0.001."}
    )
    units: Literal["metres", "sigma"] = field(
        default="metres",
        metadata={
            "help": "sigma: x, px, y, py are multiples of the beam size about the closed orbit; "
            "zeta and delta stay as they are. Emittances are then mandatory."
        },
    )
    nemitt_x_m: float | None = field(
        default=None,
        validator=validators.optional(_positive(1.0)),
        metadata={"help": "Normalised emittance in x, metres (1 sigma)."},
    )
    nemitt_y_m: float | None = field(
        default=None,
        validator=validators.optional(_positive(1.0)),
        metadata={"help": "Normalised emittance in y, metres (1 sigma)."},
    )
    maps: Maps = field(default="exact", metadata=settings.MAPS)
    device: Literal["auto", "cpu", "gpu"] = field(
        default="auto", metadata={"help": "auto: a GPU if cupy and a device are there."}
    )
    block_turns: int = field(
        default=0,
        validator=[validators.ge(0), validators.le(MOST_TURNS)],
        metadata={"help": "Turns between checkpoints; 0: about a second of work."},
    )
    turn_by_turn: bool = field(
        default=False, metadata={"help": "Also write all coordinates after every turn."}
    )
    table: Literal["csv", "parquet"] = field(
        default="csv", metadata={"help": "Format of the table of particles."}
    )
    memory_limit_gb: float = field(
        default=4.0, validator=_positive(10_000), metadata={"help": "More is refused beforehand."}
    )
    time_limit: float | None = field(
        default=None,
        validator=validators.optional(validators.gt(0)),
        metadata={"help": "Seconds after which it stops, resumable."},
    )
