"""Exact closed-form maps for pure dipoles; everything else is left as the file has it.

A sector bend without other multipoles has a closed-form map. xtrack's default
slices it into a kick for every 3 mrad all the same, with kicks that are empty.
``bend-kick-bend`` with one empty kick is that closed form: faster, and free
of the slicing's own error. Bends with quadrupole or higher components keep
their model and kick count, where each count is a choice of physics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from sciharness_xsuite.lattice import Lattice
from sciharness_xsuite.lattice.load import build

Plain = Mapping[str, Any]  # Any: checked JSON values of a line

_EXACT = {"model": "bend-kick-bend", "integrator": "uniform", "num_multipole_kicks": 1}
_STRENGTHS = ("k1", "k2", "k3", "k0s", "k1s", "k2s", "k3s")
_LISTS = ("knl", "ksl", "knl_rel", "ksl_rel")
_DEFAULT = (
    "adaptive",
    "rot-kick-rot",
    "full",
    "rot-kick-rot-low-order",
    "rot-kick-rot-high-order",
)
_DEFAULT_CODES = (0, 1, 3, 7, 8)


def exact_maps(plain: Plain) -> tuple[Plain, int]:
    """Return the line with closed-form maps in its pure dipoles, and how many there are."""
    elements = {
        name: {**element, **_EXACT} if is_pure_dipole(element) else element
        for name, element in plain["elements"].items()
    }
    places = [plain["elements"][name] for name in plain["element_names"]]
    return {**plain, "elements": elements}, sum(is_pure_dipole(one) for one in places)


def with_maps(lattice: Lattice, maps: str) -> Lattice:
    """Return the lattice with ``exact`` maps in pure dipoles, or as it is for ``xtrack``."""
    if maps != "exact":
        return lattice
    plain, changed = exact_maps(lattice.plain)
    if not changed:
        return lattice
    return evolve(lattice, line=build(plain, lattice.name).line, plain=plain)


def maps_note(lattice: Lattice, maps: str) -> str:
    """Return what was done to the maps of a lattice as it was read."""
    if maps != "exact":
        return "every element is integrated as the file and xtrack's defaults have it"
    _, changed = exact_maps(lattice.plain)
    return (
        f"{changed} pure dipoles use their exact closed-form map; kick counts elsewhere are "
        "those of the file"
    )


def is_pure_dipole(element: Plain) -> bool:
    """Whether an element is a bend of a dipole field alone, to be integrated exactly.

    One whose file asks for an approximate model (such as mat-kick-mat) is
    left alone: that was a choice.
    """
    if element["__class__"] not in ("Bend", "RBend"):
        return False
    if element.get("model", "adaptive") not in (*_DEFAULT, *_DEFAULT_CODES):
        return False
    strengths = any(element.get(name) for name in _STRENGTHS)
    return not strengths and not any(any(element.get(name, ())) for name in _LISTS)


def has_clock(plain: Plain) -> bool:
    """Whether anything depends on the time since the start, or changes the reference energy."""
    return any(
        element.get("absolute_time")
        or element["__class__"] == "ReferenceEnergyIncrease"
        or element.get("energy_ref_increment")
        for element in plain["elements"].values()
    )
