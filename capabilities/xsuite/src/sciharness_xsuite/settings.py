"""Settings that several operations share: coordinates, maps, turns, the search of a boundary."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Literal

from attrs import field
from attrs.validators import ge, gt, le

Coordinate = Literal["x", "px", "y", "py", "zeta", "delta"]
COORDINATES: tuple[Coordinate, ...] = ("x", "px", "y", "py", "zeta", "delta")
Maps = Literal["exact", "xtrack"]

MAPS = MappingProxyType(
    {
        "help": "exact: closed-form maps in pure dipoles, faster and without slicing error; "
        "xtrack: everything as the file and xtrack's defaults have it."
    }
)
_MOST_TURNS = 100_000_000  # of a particle that is followed to tell its fate


# Any: attrs types the result of `field` by where it is assigned.
def turns(default: int, help: str = "Turns that a particle has to survive.") -> Any:
    """Return the setting of how long particles are followed."""
    return field(default=default, validator=[ge(1), le(_MOST_TURNS)], metadata={"help": help})


def scan_points(default: int) -> Any:
    """Return the setting of how finely a ray is scanned at first."""
    help = "Points of the first scan, from 0 to the largest amplitude."
    return field(default=default, validator=[ge(3), le(100_000)], metadata={"help": help})


def check_points(default: int) -> Any:
    """Return the setting of how closely the inside of a boundary is looked at."""
    help = "Points inside the boundary that was found, to look for losses further in."
    return field(default=default, validator=[ge(0), le(100_000)], metadata={"help": help})


def max_tracks(default: int) -> Any:
    """Return the setting that bounds the particles of one ray."""
    help = "Particles to track along one direction at most."
    return field(default=default, validator=[ge(3), le(1_000_000)], metadata={"help": help})


def tolerance(default: float) -> Any:
    """Return the setting of how narrow a bracket has to be."""
    help = "Width of the bracket to reach."
    return field(default=default, validator=gt(0.0), metadata={"help": help})
