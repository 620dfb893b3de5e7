"""What a caller may set for ``scan``."""

from __future__ import annotations

from typing import Literal

from attrs import field as setting
from attrs import frozen
from attrs.validators import ge, le, max_len, min_len

from sciharness_xsuite.boundary.request import ApertureRequest, BoundaryRequest, MomentumRequest

MOST_CELLS = 100_000
Measure = Literal["twiss", "survival_boundary", "momentum_aperture", "dynamic_aperture"]


@frozen
class Parameter:
    """A parameter that is scanned: an element field, or a property of the beam."""

    field: str = setting(
        validator=min_len(1),
        metadata={
            "help": "Field of the elements, such as k1 or knl[1]; without elements a coordinate "
            "that is added to every particle, or p0c_ev."
        },
    )
    elements: tuple[str, ...] = setting(
        default=(), metadata={"help": "Names of elements; * stands for any letters."}
    )
    name: str = setting(default="", metadata={"help": "Column name; by default the field's."})
    values: tuple[float, ...] = setting(default=(), metadata={"help": "The values to try."})
    start: float | None = setting(default=None, metadata={"help": "First value of a range."})
    stop: float | None = setting(default=None, metadata={"help": "Last value of a range."})
    count: int = setting(
        default=0, validator=[ge(0), le(MOST_CELLS)], metadata={"help": "Values of a range."}
    )
    spacing: Literal["linear", "log"] = setting(
        default="linear", metadata={"help": "How the values of a range are spaced."}
    )
    how: Literal["set", "add", "scale"] = setting(
        default="set", metadata={"help": "What a value does to the field of each element."}
    )


@frozen
class Keep:
    """A condition: only cells with low <= first - second <= high are computed."""

    first: str = setting(metadata={"help": "Name of a parameter."})
    second: str = setting(default="", metadata={"help": "Name of another, or nothing for 0."})
    low: float | None = setting(default=None, metadata={"help": "Smallest difference."})
    high: float | None = setting(default=None, metadata={"help": "Largest difference."})


@frozen
class ScanRequest:
    """Settings of ``scan``."""

    parameters: tuple[Parameter, ...] = setting(
        validator=[min_len(1), max_len(3)], metadata={"help": "One to three parameters."}
    )
    measure: Measure = setting(
        default="twiss", metadata={"help": "What is found for every cell of the scan."}
    )
    aperture: ApertureRequest | None = setting(
        default=None, metadata={"help": "Settings of dynamic_aperture."}
    )
    boundary: BoundaryRequest | None = setting(
        default=None, metadata={"help": "Settings of survival_boundary."}
    )
    momentum: MomentumRequest | None = setting(
        default=None, metadata={"help": "Settings of momentum_aperture."}
    )
    linked: bool = setting(
        default=False,
        metadata={"help": "Take the first values together, then the second, and so on: a line."},
    )
    keep: tuple[Keep, ...] = setting(
        default=(), metadata={"help": "Conditions that every cell has to meet; others stay empty."}
    )
    show: str = setting(
        default="", metadata={"help": "Metric of the picture; by default the main one."}
    )
    table: Literal["csv", "parquet"] = setting(
        default="csv", metadata={"help": "Format of the table."}
    )
