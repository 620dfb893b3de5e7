"""Exact closed-form maps in dipoles; kick counts are left as the file has them.

A sector bend without other multipoles has a closed-form map. xtrack's default
slices it into a kick for every 3 mrad all the same, with kicks that are empty.
``bend-kick-bend`` with one empty kick is that closed form: faster, and free
of the slicing's own error.

In bends with quadrupole or higher components the number of kicks is a choice
of physics and stays. Between kicks the default integrates the dipole by a
scheme of its own; ``bend-kick-bend`` uses the closed form there.
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
_LEAST_CURVATURE = 1e-8  # 1/m; below it xtrack takes a magnet as straight


def exact_maps(plain: Plain) -> tuple[Plain, int]:
    """Return the line with closed forms in its bends, and how many pure dipoles there are."""
    elements = {name: _changed(element) for name, element in plain["elements"].items()}
    places = (plain["elements"][name] for name in plain["element_names"])
    return {**plain, "elements": elements}, sum(map(is_pure_dipole, places))


def _changed(element: Plain) -> Plain:
    if is_pure_dipole(element):
        return {**element, **_EXACT}
    return {**element, "model": _EXACT["model"]} if is_combined_bend(element) else element


def with_maps(lattice: Lattice, maps: str) -> Lattice:
    """Return the lattice with ``exact`` maps in pure dipoles, or as it is for ``xtrack``."""
    if maps != "exact":
        return lattice
    plain, _ = exact_maps(lattice.plain)
    if plain["elements"] == lattice.plain["elements"]:
        return lattice
    return evolve(lattice, line=build(plain, lattice.name).line, plain=plain)


def maps_note(lattice: Lattice, maps: str) -> str:
    """Return what was done to the maps of a lattice as it was read."""
    if maps != "exact":
        return "every element is integrated as the file and xtrack's defaults have it"
    places = [lattice.plain["elements"][name] for name in lattice.element_names]
    pure, combined = (sum(map(kind, places)) for kind in (is_pure_dipole, is_combined_bend))
    between = f", {combined} combined-function bends use it between their kicks" if combined else ""
    return (
        f"{pure} pure dipoles use their exact closed-form map{between}; "
        "all kick counts are those of the file"
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
    return not _has_other_fields(element)


def is_combined_bend(element: Plain) -> bool:
    """Whether an element is a curved bend with further components, integrated by default."""
    if element["__class__"] not in ("Bend", "RBend"):
        return False
    if element.get("model", "adaptive") not in ("adaptive", "rot-kick-rot", "full", 0, 1, 3):
        return False
    length = element.get("length", element.get("length_straight", 0.0))
    straight = element.get("rbend_model") in ("straight-body", 2)
    curved = abs(element.get("angle", 0.0)) > _LEAST_CURVATURE * length and not straight
    return curved and _has_other_fields(element)


def _has_other_fields(element: Plain) -> bool:
    strengths = any(element.get(name) for name in _STRENGTHS)
    return strengths or any(any(element.get(name, ())) for name in _LISTS)


def has_clock(plain: Plain) -> bool:
    """Whether anything depends on the time since the start, or changes the reference energy."""
    return any(
        element.get("absolute_time")
        or element["__class__"] == "ReferenceEnergyIncrease"
        or element.get("energy_ref_increment")
        for element in plain["elements"].values()
    )
