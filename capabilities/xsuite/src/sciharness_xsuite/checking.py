"""The operation ``load_check``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sciharness import Context, Outcome
from sciharness_xsuite.lattice import Lattice, read_lattice
from sciharness_xsuite.lattice.classes import APERTURES, RF
from sciharness_xsuite.optics import Optics, optics_at_start
from sciharness_xsuite.requests import LoadCheckRequest
from sciharness_xsuite.tracking.maps import is_pure_dipole, with_maps

_BENDS = ("Bend", "RBend")


def run(request: LoadCheckRequest, context: Context) -> Outcome:
    """Read the lattice, write what it holds, say what was dropped and what it lacks."""
    lattice = read_lattice(context.inputs["lattice"].path)
    context.progress(0.5, f"{len(lattice.element_names):,} elements read")
    optics = optics_at_start(with_maps(lattice, "exact")) if request.optics else None
    document = described(lattice, optics)
    path = context.output("lattice_check.json", "analysis_result")
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")
    said = (
        f"{lattice.name}: {len(lattice.element_names):,} elements, "
        f"{lattice.circumference_m:.6g} m, p0c {lattice.reference.p0c_ev:.6g} eV",
        *warnings_of(lattice, optics),
        *lattice.notes,
    )
    return Outcome(metrics_of(lattice, optics), said)


def metrics_of(lattice: Lattice, optics: Optics | None) -> dict[str, float]:
    """Return the numbers of a lattice."""
    places = [lattice.plain["elements"][name] for name in lattice.element_names]
    pure = sum(is_pure_dipole(one) for one in places)
    bends = sum(one["__class__"] in _BENDS for one in places)
    found = {
        "elements": float(len(places)),
        "circumference_m": lattice.circumference_m,
        "p0c_ev": lattice.reference.p0c_ev,
        "pure_dipoles": float(pure),
        "combined_function_bends": float(bends - pure),
        "apertures": float(sum(one["__class__"] in APERTURES for one in places)),
        "active_rf": float(lattice.has_rf),
    }
    return found if optics is None else {**found, "stable": float(not optics.fault)}


def warnings_of(lattice: Lattice, optics: Optics | None) -> tuple[str, ...]:
    """Return what a physicist wants to know before tracking."""
    said = []
    if not lattice.has_aperture:
        limit = lattice.global_limit_m
        where = f"only |x| or |y| > {limit:g} m counts as lost" if limit else "nothing is ever lost"
        said.append(f"warning: the ring has no aperture: {where}")
    if lattice.global_limit_m is None:
        said.append(
            "warning: the file switches the global limit off: particles may run to infinity; "
            "only finite coordinates count as survived"
        )
    if not lattice.has_rf:
        cavities = sum(lattice.classes.get(kind, 0) for kind in RF)
        what = f"no cavity has voltage ({cavities} in the ring)" if cavities else "no cavity"
        said.append(f"{what}: coasting beam, the optics is 4D")
    if optics is not None and optics.fault:
        said.append(f"warning: no stable optics: {optics.fault}. Tracking works all the same.")
    return tuple(said)


def described(lattice: Lattice, optics: Optics | None) -> Mapping[str, Any]:  # Any: JSON values
    """Return a lattice as JSON values."""
    import xtrack  # seconds to import

    reference = lattice.reference
    return {
        "schema": "lattice-check-v1",
        "name": lattice.name,
        "sha256": lattice.sha256,
        "xtrack": {"file": lattice.xtrack_version or None, "here": xtrack.__version__},
        "elements": len(lattice.element_names),
        "circumference_m": lattice.circumference_m,
        "reference": {
            "mass0_ev": reference.mass0_ev,
            "q0": reference.q0,
            "p0c_ev": reference.p0c_ev,
        },
        "classes": dict(lattice.classes),
        "has_aperture": lattice.has_aperture,
        "has_rf": lattice.has_rf,
        "global_limit_m": lattice.global_limit_m,
        "optics": None if optics is None else optics.summary(),
        "warnings": list(warnings_of(lattice, optics)),
        "notes": list(lattice.notes),
    }
