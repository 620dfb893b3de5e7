"""The operation ``generate_stability_dataset``, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from sciharness import Context, Outcome, read_table
from sciharness.errors import DataError, RequestError
from sciharness_xsuite.datasets.gathering import Gathered, Plan, gather
from sciharness_xsuite.datasets.request import LEAST_EVALUATION, StabilityRequest
from sciharness_xsuite.datasets.space import Space, space_of
from sciharness_xsuite.datasets.writing import write_facts, write_labelled
from sciharness_xsuite.lattice import Lattice, read_lattice
from sciharness_xsuite.settings import COORDINATES, Coordinate
from sciharness_xsuite.tracking import Tracker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

RARE = 0.05  # a class below this share deserves a word
EVALUATION = "evaluation"


def run(request: StabilityRequest, context: Context) -> Outcome:
    """Track particles of a domain and write which survived.

    Raises:
        RequestError: the parameters do not go together.
        DataError: the lattice cannot be kept, or all particles share one fate.
    """
    final = request.dataset_role == EVALUATION
    if final:
        _check_final(request, context)
    given = _given(context)
    space = _space(request, given)
    lattice = read_lattice(context.inputs["lattice"].path)
    tracker = Tracker(lattice, maps=request.maps, workers=context.workers)
    plan = Plan(
        space,
        request.num_particles,
        1.0 if final or request.sampling == "uniform" else request.uniform_share,
        request.num_turns,
        context.seed,
        np.empty((0, len(space.names))) if final else _columns(given, space),
    )
    if len(plan.given) > plan.count:
        plan = evolve(plan, count=len(plan.given))
    found = gather(plan, tracker, context)
    survived = _both(found, plan, lattice)
    write_labelled(context, space, found)
    if not final:  # these would tell labels that the kernel seals
        write_facts(context, space, found, lattice, request.num_turns)
        _draw(request, context, space, found, lattice, tracker)
    return Outcome(_metrics(found, survived), _notes(request, found, survived, lattice, tracker))


def _check_final(request: StabilityRequest, context: Context) -> None:
    where = "dataset_role"
    if "predictor" not in context.inputs:
        raise RequestError(
            "evaluation data are made for a predictor that is frozen first, found no input "
            "`predictor`",
            where=where,
            hint="Bind predictor: STEP and name this step in holdout: {generated_by: STEP}.",
        )
    if request.sampling == "adaptive":
        raise RequestError(
            "evaluation data are uniform over the domain, found adaptive", where="sampling"
        )
    if request.num_particles < LEAST_EVALUATION:
        raise RequestError(
            f"expected at least {LEAST_EVALUATION:,} particles for evaluation, found "
            f"{request.num_particles:,}",
            where="num_particles",
        )


def _given(context: Context) -> dict[Coordinate, Array]:
    """Return the columns of given start values by coordinate."""
    if "particles" not in context.inputs:
        return {}
    table = read_table(evolve(context.inputs["particles"], role="table", table=None))
    columns = {name.split(" [")[0].strip(): place for place, name in enumerate(table.features)}
    found = {name: table.X[:, columns[name]] for name in COORDINATES if name in columns}
    if not found or not len(table.X):
        raise DataError(
            f"expected start values in columns {', '.join(COORDINATES)}, found "
            f"{', '.join(table.features) or 'none'}",
            where="particles",
        )
    for name, column in found.items():
        if not np.isfinite(column).all():
            row = int(np.argmin(np.isfinite(column))) + 1
            raise DataError("expected finite numbers", where=f"particles: row {row}, {name}")
    return found


def _space(request: StabilityRequest, given: dict[Coordinate, Array]) -> Space:
    """Return the declared space; what is not declared follows from the given particles."""
    fixed = dict(request.fixed)
    domain = dict(request.domain)
    for name, column in given.items():
        low, high = float(column.min()), float(column.max())
        if low < high:
            domain.setdefault(name, (low, high))
        elif name not in domain:
            fixed.setdefault(name, low)
    return space_of(domain, fixed)


def _columns(given: dict[Coordinate, Array], space: Space) -> Array:
    """Return the given particles as points of the space."""
    if not given:
        return np.empty((0, len(space.names)))
    lacking = [name for name in space.names if name not in given]
    if lacking:
        raise RequestError(
            f"varies, but the given particles have no such column: {', '.join(lacking)}",
            where="domain",
        )
    columns = {str(name): column for name, column in given.items()}
    return np.stack([columns[name] for name in space.names], axis=1)


def _both(found: Gathered, plan: Plan, lattice: Lattice) -> NDArray[np.bool_]:
    """Return the fates, if there are enough particles and two fates.

    Raises:
        DataError: all survived, all were lost, or the work was cancelled too early.
    """
    known = found.known()
    if known is None or (plan.uniform_share >= 1.0 and not found.complete):
        raise DataError("cancelled before the particles were tracked", where=lattice.name)
    survived = known[1]
    if survived.all() or not survived.any():
        if not found.complete:
            raise DataError("cancelled before a boundary was seen", where=lattice.name)
        fate, change = ("survived", "widen") if survived.all() else ("were lost", "narrow")
        ranges = ", ".join(
            f"{name} {low:g} .. {high:g}"
            for name, low, high in zip(
                plan.space.names, plan.space.lows, plan.space.highs, strict=True
            )
        )
        raise DataError(
            f"all {len(survived):,} particles {fate} {plan.turns:,} turns, expected some of both "
            f"fates in the domain {ranges}",
            where=lattice.name,
            hint=f"There is nothing to tell apart: {change} the domain, or change num_turns.",
        )
    return survived


def _metrics(found: Gathered, survived: NDArray[np.bool_]) -> dict[str, float]:
    share = float(survived.mean())
    wanted = "uniform" if "uniform" in found.kinds else "given"
    even = np.concatenate(
        [one for one, kind in zip(found.survived, found.kinds, strict=True) if kind == wanted]
    )
    return {
        "particles": float(len(survived)),
        "survivor_share": share,
        "minority_share": min(share, 1.0 - share),
        "survivor_share_in_domain": float(even.mean()),
    }


def _notes(
    request: StabilityRequest,
    found: Gathered,
    survived: NDArray[np.bool_],
    lattice: Lattice,
    tracker: Tracker,
) -> list[str]:
    count, living = len(survived), int(survived.sum())
    share = _metrics(found, survived)["minority_share"]
    notes = [f"{living:,} of {count:,} particles survived {request.num_turns:,} turns"]
    near = sum(
        len(one) for one, kind in zip(found.points, found.kinds, strict=True) if kind == "near"
    )
    if near:
        notes.append(
            f"{near:,} particles lie near the boundary, where survival was in doubt; in the domain "
            f"as a whole {_metrics(found, survived)['survivor_share_in_domain']:.1%} survive"
        )
    if share < RARE:
        notes.append(f"the rarer fate is {share:.1%} of the particles only")
    if not found.complete:
        notes.append("cancelled: fewer particles than asked for")
    if not lattice.has_aperture:
        notes.append("the lattice has no aperture: only the global limit loses particles")
    return [*notes, found.criterion, *tracker.notes, *lattice.notes]


def _draw(
    request: StabilityRequest,
    context: Context,
    space: Space,
    found: Gathered,
    lattice: Lattice,
    tracker: Tracker,
) -> None:
    from sciharness_xsuite.plots.survival import write_survival_part  # matplotlib

    write_survival_part(request, context, space, found, (*tracker.notes, *lattice.notes))
