"""The same ring under other integrators and kick counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from sciharness_xsuite.lattice.classes import fields_of
from sciharness_xsuite.tracking.maps import exact_maps, is_pure_dipole

Plain = Mapping[str, Any]  # Any: checked JSON values of a line
KICKS = "num_multipole_kicks"


@frozen
class Variant:
    """One way to integrate a ring; ``kicks`` is 0 where the count is not set by us."""

    name: str
    plain: Plain
    kicks: int = 0


def variants(plain: Plain, kicks: tuple[int, ...]) -> Iterator[Variant]:
    """Yield the ring as the plugin, as the file and as ever finer kicks have it.

    Pure dipoles keep their closed form under finer kicks: there is nothing to
    converge to. Elements whose length is cut into kicks are all others that
    have such a count.
    """
    exact, _ = exact_maps(plain)
    chosen = sliced(plain)
    yield Variant("this plugin (exact dipole maps)", exact)
    yield Variant("file and xtrack's defaults", plain)
    uniform = _with(exact, chosen, {"integrator": "uniform"})
    yield Variant("uniform integrator, counts of the file", uniform)
    for count in kicks:
        finer = _with(exact, chosen, {KICKS: count})
        yield Variant(f"{count} kicks in each magnet", finer, count)


def sliced(plain: Plain) -> list[str]:
    """Return the names of the elements whose kick count matters."""
    return [
        name
        for name, element in plain["elements"].items()
        if not is_pure_dipole(element) and _is_sliced(element)
    ]


def _is_sliced(element: Mapping[str, Any]) -> bool:
    known = fields_of(element["__class__"])
    thick = element.get("length", 0.0) or element.get("length_straight", 0.0)
    return {KICKS, "integrator"} <= known and bool(thick) and _is_strong(element)


def _is_strong(element: Mapping[str, Any]) -> bool:
    if element["__class__"] in ("Bend", "RBend", "Quadrupole", "Sextupole", "Octupole"):
        return True
    names = ("k0", "k1", "k2", "k3", "k0s", "k1s", "k2s", "k3s", "angle")
    lists = ("knl", "ksl", "knl_rel", "ksl_rel")
    return any(element.get(name) for name in names) or any(
        any(element.get(name, ())) for name in lists
    )


def _with(plain: Plain, chosen: list[str], settings: Mapping[str, Any]) -> Plain:
    # Any: JSON values
    elements = {
        **plain["elements"],
        **{name: {**plain["elements"][name], **settings} for name in chosen},
    }
    return {**plain, "elements": elements}
