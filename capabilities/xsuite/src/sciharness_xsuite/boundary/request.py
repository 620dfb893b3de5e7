"""What a caller may set for boundaries and apertures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen
from attrs.validators import ge, gt, le, lt, optional

from sciharness_xsuite import settings
from sciharness_xsuite.settings import Coordinate, Maps


@frozen
class BoundaryRequest:
    """Settings of ``survival_boundary``: start + amplitude times direction is tracked."""

    num_turns: int = settings.turns(128)
    direction: Mapping[Coordinate, float] = field(
        factory=lambda: {"x": 1.0},
        metadata={"help": "How much of each coordinate one unit of amplitude adds."},
    )
    start: Mapping[Coordinate, float] = field(
        factory=dict, metadata={"help": "Coordinates at amplitude 0; those not named are 0."}
    )
    largest: float = field(
        default=0.5, validator=gt(0.0), metadata={"help": "Largest amplitude to try."}
    )
    tolerance: float = settings.tolerance(1e-6)
    scan_points: int = settings.scan_points(40)
    check_points: int = settings.check_points(24)
    max_tracks: int = settings.max_tracks(150)
    maps: Maps = field(default="exact", metadata=settings.MAPS)


@frozen
class MomentumRequest:
    """Settings of ``momentum_aperture``: the boundary along delta, up and down."""

    num_turns: int = settings.turns(128)
    start: Mapping[Coordinate, float] = field(
        factory=dict, metadata={"help": "Coordinates besides delta; those not named are 0."}
    )
    largest: float = field(
        default=0.1,
        validator=[gt(0.0), lt(1.0)],
        metadata={"help": "Largest absolute delta to try."},
    )
    tolerance: float = settings.tolerance(1e-5)
    scan_points: int = settings.scan_points(40)
    check_points: int = settings.check_points(24)
    max_tracks: int = settings.max_tracks(150)
    maps: Maps = field(default="exact", metadata=settings.MAPS)


@frozen
class ApertureRequest:
    """Settings of ``dynamic_aperture``: rays in the plane of x and y."""

    r_max: float = field(
        validator=gt(0.0), metadata={"help": "Outer radius of the search, in metres or sigma."}
    )
    num_turns: int = settings.turns(1_000)
    angles: int = field(
        default=19, validator=[ge(1), le(10_000)], metadata={"help": "Number of rays."}
    )
    angle_min_deg: float = field(default=0.0, metadata={"help": "0 is along x, 90 along y."})
    angle_max_deg: float = field(default=90.0, metadata={"help": "Angle of the last ray."})
    endpoints: bool = field(
        default=True, metadata={"help": "Whether rays lie on both end angles, else between them."}
    )
    units: Literal["metres", "sigma"] = field(
        default="metres",
        metadata={"help": "sigma: radii are multiples of the beam sizes, about the closed orbit."},
    )
    nemitt_x_m: float | None = field(
        default=None,
        validator=optional(gt(0.0)),
        metadata={"help": "Normalised emittance in x, metres; mandatory with sigma."},
    )
    nemitt_y_m: float | None = field(
        default=None,
        validator=optional(gt(0.0)),
        metadata={"help": "Normalised emittance in y, metres; mandatory with sigma."},
    )
    offset: Mapping[Coordinate, float] = field(
        factory=dict, metadata={"help": "Added to every particle, such as delta: 0.001."}
    )
    tolerance: float | None = field(
        default=None,
        validator=optional(gt(0.0)),
        metadata={"help": "Width of the brackets to reach; by default r_max / 1000."},
    )
    scan_points: int = settings.scan_points(32)
    check_points: int = settings.check_points(8)
    max_tracks: int = settings.max_tracks(100)
    maps: Maps = field(default="exact", metadata=settings.MAPS)
