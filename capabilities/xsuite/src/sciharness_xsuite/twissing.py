"""The operation ``twiss``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from sciharness import Context, Outcome
from sciharness_xsuite.checking import warnings_of
from sciharness_xsuite.lattice import Lattice, read_lattice
from sciharness_xsuite.lattice.load import quiet
from sciharness_xsuite.optics import Optics, optics_at_start
from sciharness_xsuite.requests import TwissRequest
from sciharness_xsuite.tracking.maps import maps_note, with_maps

_OPTICS = ("betx", "bety", "alfx", "alfy", "mux", "muy", "dx", "dpx", "dy", "dpy")
_COLUMNS = ("s", "x", "px", "y", "py", *_OPTICS)
_STEPS = (1e-7, 1e-8, 1e-7, 1e-8)


def run(request: TwissRequest, context: Context) -> Outcome:
    """Write optics as a table, or why there are none and how far the map is from stable."""
    lattice = read_lattice(context.inputs["lattice"].path)
    ready = with_maps(lattice, request.maps)
    method = "" if request.method == "auto" else request.method
    optics = optics_at_start(ready, method)
    trace = half_traces(ready)
    document: dict[str, Any] = {
        "schema": "twiss-v1",
        "lattice": {"name": lattice.name, "sha256": lattice.sha256},
        "maps": maps_note(lattice, request.maps),
        **optics.summary(),
        "half_traces": trace,
        "circumference_m": lattice.circumference_m,
        "warnings": list(warnings_of(lattice, optics)),
    }
    said = [_said(optics, trace), *warnings_of(lattice, None), maps_note(lattice, request.maps)]
    metrics = {"stable": float(not optics.fault), "circumference_m": lattice.circumference_m}
    if not optics.fault:
        metrics |= _metrics(optics)
        _write_table(context.output("twiss.csv", "OTHER"), optics.table)
    path = context.output("twiss.json", "analysis_result")
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")
    from sciharness_xsuite.plots.optics import write_optics_part  # matplotlib

    write_optics_part(optics, context, said)
    return Outcome(metrics, tuple(said))


def half_traces(lattice: Lattice) -> dict[str, float] | None:
    """Return half the trace of the one-turn map in x and y, by differences about the axis.

    A plane without coupling is stable while its half trace lies within -1 and
    1. ``None`` if a particle near the axis does not come round.
    """
    starts = np.zeros((8, 4))
    for place, step in enumerate(_STEPS):
        starts[2 * place, place], starts[2 * place + 1, place] = step, -step
    names = ("x", "px", "y", "py")
    with quiet():
        particles = lattice.line.build_particles(
            particle_ref=lattice.line.particle_ref,
            **{name: starts[:, place] for place, name in enumerate(names)},
        )
        lattice.line.track(particles)
    if (np.asarray(particles.state) <= 0).any():
        return None
    order = np.argsort(np.asarray(particles.particle_id))
    ends = np.stack([np.asarray(getattr(particles, name))[order] for name in names], axis=1)
    slopes = [(ends[2 * i] - ends[2 * i + 1]) / (2.0 * step) for i, step in enumerate(_STEPS)]
    halves = {
        "x": float(slopes[0][0] + slopes[1][1]) / 2.0,
        "y": float(slopes[2][2] + slopes[3][3]) / 2.0,
    }
    return halves if np.isfinite(list(halves.values())).all() else None


def _metrics(optics: Optics) -> dict[str, float]:
    table = optics.table
    largest = {
        "betx_max_m": float(np.max(table.betx)),
        "bety_max_m": float(np.max(table.bety)),
        "dx_max_m": float(np.max(np.abs(table.dx))),
        "orbit_x_max_m": float(np.max(np.abs(table.x))),
        "orbit_y_max_m": float(np.max(np.abs(table.y))),
    }
    return {name: getattr(optics, name) for name in ("qx", "qy", "qs", "dqx", "dqy")} | largest


def _said(optics: Optics, trace: dict[str, float] | None) -> str:
    if not optics.fault:
        return (
            f"{optics.method} optics: qx {optics.qx:.6f}, qy {optics.qy:.6f}, "
            f"dqx {optics.dqx:.4g}, dqy {optics.dqy:.4g}"
        )
    about = (
        f"; half traces of the map about the axis: x {trace['x']:.4g}, y {trace['y']:.4g} "
        "(stable within -1 and 1)"
        if trace
        else "; a particle near the axis does not come round"
    )
    return f"no stable optics: {optics.fault}{about}"


def _write_table(path: Path, table: Any) -> None:  # Any: xtrack has no types
    columns = [np.asarray(table[name], dtype=float) for name in _COLUMNS]
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(",".join(("name", *_COLUMNS)) + "\n")
        for row, name in enumerate(table.name):
            cells = [repr(float(column[row])) for column in columns]
            stream.write(",".join((f'"{name}"', *cells)) + "\n")
