"""The operation ``convergence``, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve, frozen

from sciharness import Context, Outcome
from sciharness.errors import DataError
from sciharness_xsuite.boundary.frame import write_rows
from sciharness_xsuite.convergence.request import ConvergenceRequest
from sciharness_xsuite.convergence.variants import Variant, sliced, variants
from sciharness_xsuite.datasets.space import space_of
from sciharness_xsuite.lattice import Lattice, read_lattice
from sciharness_xsuite.lattice.load import build
from sciharness_xsuite.optics import optics_at_start
from sciharness_xsuite.tracking import Tracker

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPTICS = ("qx", "qy", "dqx", "dqy")


@frozen(eq=False)
class Result:
    """What one variant gave: optics (empty where there are none) and the fates of particles."""

    variant: Variant
    optics: dict[str, float]
    fault: str
    survived: NDArray[np.bool_]

    def apart(self, other: Result, name: str) -> float | None:
        """Return how much a quantity of the optics differs, ``None`` where it is not there."""
        if not (self.optics and other.optics):
            return None
        return abs(self.optics[name] - other.optics[name])

    def changed(self, other: Result) -> float | None:
        """Return the share of particles of another fate, ``None`` without particles."""
        return float((self.survived != other.survived).mean()) if len(self.survived) else None


def run(request: ConvergenceRequest, context: Context) -> Outcome:
    """Compare optics and survival under other integrators and kick counts.

    Raises:
        DataError: the lattice cannot be kept, or it was cancelled.
    """
    lattice = read_lattice(context.inputs["lattice"].path)
    space = space_of(request.domain, {})
    points = space.full(space.draw(request.num_particles, np.random.default_rng(context.seed)))
    every = list(variants(lattice.plain, request.kicks))
    found = []
    for place, variant in enumerate(every):
        if context.cancelled:
            raise DataError("cancelled before all variants were compared", where=lattice.name)
        context.progress(place / len(every), variant.name)
        found.append(_result(variant, lattice, points, request, context))
    metrics = _metrics(request, found)
    _write(context, found)
    notes = _notes(request, lattice, found, metrics)
    _draw(request, context, found, notes, metrics)
    return Outcome(metrics, notes)


def _result(
    variant: Variant,
    lattice: Lattice,
    points: NDArray[np.float64],
    request: ConvergenceRequest,
    context: Context,
) -> Result:
    made = evolve(build(variant.plain, lattice.name), sha256=lattice.sha256)
    optics = optics_at_start(made)
    values = {} if optics.fault else {name: float(getattr(optics, name)) for name in OPTICS}
    survived = np.ones(0, dtype=bool)
    if len(points):
        tracker = Tracker(made, maps="xtrack", workers=context.workers)
        tracked = tracker.track(points, request.num_turns, cancelled=lambda: context.cancelled)
        if not tracked.complete:
            raise DataError("cancelled before all variants were compared", where=lattice.name)
        survived = tracked.survived
    return Result(variant, values, optics.fault, survived)


def _metrics(request: ConvergenceRequest, found: Sequence[Result]) -> dict[str, float]:
    """Compare the plugin's own maps with the finest kicks, and with xtrack's defaults."""
    own, file, finest = found[0], found[1], found[-1]
    metrics: dict[str, float] = {}
    for prefix, other in (("", finest), ("xtrack_", file)):
        for name, parts in (("dq", ("qx", "qy")), ("dchroma", ("dqx", "dqy"))):
            differences = [own.apart(other, part) for part in parts]
            known = [one for one in differences if one is not None]
            if known:
                metrics[f"{prefix}{name}_max"] = max(known)
        share = own.changed(other)
        if share is not None:
            metrics[f"{prefix}fates_changed"] = share
    bounds = {
        "dq_max": request.tune_tolerance,
        "dchroma_max": request.chromaticity_tolerance,
        "fates_changed": request.survival_tolerance,
    }
    kept = [metrics[name] <= bound for name, bound in bounds.items() if name in metrics]
    return {**metrics, "converged": float(bool(kept) and all(kept))}


def _write(context: Context, found: Sequence[Result]) -> None:
    finest = found[-1]
    header = ("variant", *OPTICS, *(f"{name}_apart" for name in OPTICS), "fates_changed", "fault")
    rows = [
        (
            one.variant.name,
            *(one.optics.get(name) for name in OPTICS),
            *(one.apart(finest, name) for name in OPTICS),
            one.changed(finest),
            one.fault,
        )
        for one in found
    ]
    write_rows(context.output("convergence.csv", "DATASET"), header, rows)


def _notes(
    request: ConvergenceRequest,
    lattice: Lattice,
    found: Sequence[Result],
    metrics: dict[str, float],
) -> list[str]:
    finest = found[-1].variant.kicks
    apart = [
        f"{said} by at most {metrics[name]:.2g}"
        for name, said in (
            ("dq_max", "tunes change"),
            ("dchroma_max", "chromaticities change"),
        )
        if name in metrics
    ]
    if "fates_changed" in metrics:
        share = metrics["fates_changed"]
        apart.append(f"{share:.2%} of {request.num_particles:,} particles change their fate")
    word = "converged" if metrics["converged"] else "NOT converged"
    notes = [
        f"{word}: from the maps of this plugin to {finest} kicks in each magnet {', '.join(apart)}",
        f"{len(sliced(lattice.plain))} elements are cut into kicks; pure dipoles have a closed "
        "form. The plugin changes no kick count by itself",
    ]
    if not metrics["converged"]:
        notes.append(
            "set num_multipole_kicks of the combined-function magnets in the lattice file where "
            "this matters"
        )
    faults = sorted({f"{one.variant.name}: {one.fault}" for one in found if one.fault})
    return [*notes, *faults, *lattice.notes]


def _draw(
    request: ConvergenceRequest,
    context: Context,
    found: Sequence[Result],
    notes: list[str],
    metrics: dict[str, float],
) -> None:
    from sciharness_xsuite.plots.convergence import write_convergence_part  # matplotlib

    write_convergence_part(request, context, found, notes, metrics)
