"""The elements that a lattice file may hold, and the fields that each of them may have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MAGNETS = (
    "Bend",
    "RBend",
    "Quadrupole",
    "Sextupole",
    "Octupole",
    "Multipole",
    "Magnet",
    "UniformSolenoid",
    "Solenoid",
    "SimpleThinBend",
    "SimpleThinQuadrupole",
    "DipoleEdge",
)
_STRAIGHTS = ("Marker", "Drift", "DriftExact", "Device", "Replica")
_FRAMES = (
    "Rotation",
    "Translation",
    "SRotation",
    "XRotation",
    "YRotation",
    "XYShift",
    "ZetaShift",
)
RF = ("Cavity", "CrabCavity", "RFMultipole")
APERTURES = (
    "LimitEllipse",
    "LimitRect",
    "LimitRectEllipse",
    "LimitRacetrack",
    "LimitPolygon",
    "LongitudinalLimitRect",
)
# Of linear maps xtrack's own reader loses mode and chromaticity: they are left out.
_OTHERS = ("ReferenceEnergyIncrease", "BeamBeamBiGaussian2D", "BeamBeamBiGaussian3D")
_EDGED = ("Bend", "RBend", "Quadrupole", "Sextupole", "Octupole")
_THICK = (*_EDGED, "Multipole", "Cavity", "CrabCavity")
_SLICES = (
    *(f"ThinSlice{parent}{end}" for parent in _EDGED for end in ("", "Entry", "Exit")),
    *(f"ThinSlice{parent}" for parent in ("Multipole", "Cavity", "CrabCavity")),
    *(f"ThinSliceUniformSolenoid{end}" for end in ("Entry", "Exit")),
    *(f"ThickSlice{parent}" for parent in (*_THICK, "Device", "UniformSolenoid")),
    *(f"DriftSlice{parent}" for parent in ("", *_THICK)),
)

ALLOWED = frozenset(
    (*_MAGNETS, *_STRAIGHTS, *_FRAMES, *RF, *APERTURES, *_OTHERS, *_SLICES),
)

# What the constructors take beyond the fields of the C structure.
_MORE: Mapping[str, tuple[str, ...]] = {
    "LimitEllipse": ("a", "b"),
    "LimitRectEllipse": ("a", "b"),
    "Multipole": ("hyl",),
    "RFMultipole": ("lag", "pn", "ps"),
    "Cavity": ("lag",),
    "CrabCavity": ("lag",),
    "Rotation": ("seq",),
    "SRotation": ("angle", "cos_z", "sin_z"),
    "XRotation": ("angle",),
    "YRotation": ("angle",),
    "DipoleEdge": ("h",),
    "Replica": ("parent_name",),
    "BeamBeamBiGaussian3D": ("_sin_phi", "_cos_phi", "_tan_phi", "_sin_alpha", "_cos_alpha"),
}
_DERIVED = ("inv_factorial_order", "x_normal", "y_normal", "resc_fac")


def fields_of(name: str) -> frozenset[str]:
    """Return the names of the fields that an element of this class may have in a file."""
    if name == "Replica":
        return frozenset(_MORE[name])
    own = {field for field in _class_of(name)._xofields if not field.startswith("_")}
    more = set(_MORE.get(name, ()))
    if "Slice" in name:
        more.add("parent_name")
    return frozenset((own | more) - set(_DERIVED))


def _class_of(name: str) -> Any:  # Any: xtrack has no types
    if name.startswith("BeamBeam"):
        import xfields  # seconds to import, as xtrack

        return getattr(xfields, name)
    import xtrack

    return getattr(xtrack, name)
