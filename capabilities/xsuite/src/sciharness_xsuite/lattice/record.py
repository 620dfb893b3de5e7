"""A lattice that was read: the line, and what is to be known about how it was read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen


@frozen
class Reference:
    """The reference particle: rest mass [eV], charge [e], momentum times c [eV]."""

    mass0_ev: float
    q0: float
    p0c_ev: float


@frozen
class Lattice:
    """A line built from checked values only, ready to be tracked.

    ``line`` is an ``xtrack.Line`` without expressions. ``plain`` is the
    checked data it was built from. ``notes`` say what was dropped or mapped.
    ``has_aperture`` and ``has_rf`` tell whether any element limits the beam or
    accelerates it. ``global_limit_m`` is the bound on |x| and |y| that drifts
    check, ``None`` when the file switches it off.
    """

    line: Any = field(eq=False, repr=False)  # Any: xtrack has no types
    plain: Mapping[str, Any] = field(eq=False, repr=False)  # Any: JSON values
    name: str
    sha256: str
    reference: Reference
    circumference_m: float
    element_names: tuple[str, ...] = field(repr=False)
    classes: Mapping[str, int]
    has_aperture: bool
    has_rf: bool
    global_limit_m: float | None
    xtrack_version: str
    notes: tuple[str, ...]
