"""Operations on where survival ends: ``survival_boundary`` and the two apertures."""

from __future__ import annotations

from sciharness import Capability, Context, Outcome, OutputSpec
from sciharness_xsuite.boundary.request import ApertureRequest, BoundaryRequest, MomentumRequest
from sciharness_xsuite.offers.common import DOMAIN, LATTICE, PART, pictures


def survival_boundary(request: BoundaryRequest, context: Context) -> Outcome:
    """Find where survival ends along one direction of start values.

    Raises:
        RequestError: the direction adds to no coordinate.
        DataError: the lattice cannot be kept, or the search was cancelled.
    """
    from sciharness_xsuite.boundary.along import run_boundary  # numpy and xtrack, not to describe

    return run_boundary(request, context)


SURVIVAL_BOUNDARY = Capability(
    operation="survival_boundary",
    run=survival_boundary,
    request=BoundaryRequest,
    summary="Find where survival ends along any coordinate or direction.",
    group="domain experiments",
    inputs=(LATTICE,),
    outputs=(OutputSpec("boundary.csv", "DATASET"), *PART, *pictures("boundary.png")),
    metrics=(
        "boundary",
        "last_survivor",
        "first_loss",
        "bracket_width",
        "outermost_survivor",
        "none_lost",
        "none_lost_up_to",
        "tracks",
    ),
    domain=DOMAIN,
)


def momentum_aperture(request: MomentumRequest, context: Context) -> Outcome:
    """Find the largest momentum deviations that survive, up and down.

    Raises:
        DataError: the lattice cannot be kept, or the search was cancelled.
    """
    from sciharness_xsuite.boundary.along import run_momentum  # as above

    return run_momentum(request, context)


MOMENTUM_APERTURE = Capability(
    operation="momentum_aperture",
    run=momentum_aperture,
    request=MomentumRequest,
    summary="Find the largest momentum deviations that survive, up and down.",
    group="domain experiments",
    inputs=(LATTICE,),
    outputs=(
        OutputSpec("momentum_aperture.csv", "DATASET"),
        *PART,
        *pictures("boundary.png"),
    ),
    metrics=(
        "momentum_aperture",
        "momentum_aperture_up",
        "momentum_aperture_down",
        "bracket_width",
        "none_lost",
        "tracks",
    ),
    domain=DOMAIN,
)


def dynamic_aperture(request: ApertureRequest, context: Context) -> Outcome:
    """Find the dynamic aperture over angles in the plane of x and y.

    Raises:
        RequestError: sigma units without emittances, or angles in falling order.
        DataError: the lattice cannot be kept, or the search was cancelled.
    """
    from sciharness_xsuite.boundary.aperture import run  # as above

    return run(request, context)


DYNAMIC_APERTURE = Capability(
    operation="dynamic_aperture",
    run=dynamic_aperture,
    request=ApertureRequest,
    summary="Find the dynamic aperture over angles, in metres or sigma.",
    group="domain experiments",
    inputs=(LATTICE,),
    outputs=(
        OutputSpec("aperture.csv", "DATASET"),
        OutputSpec("particles.csv", "OTHER"),
        *PART,
        *pictures("aperture.png", "aperture_by_angle.png", "aperture_by_turns.png"),
    ),
    metrics=(
        "da_min",
        "da_mean",
        "da_max",
        "da_area",
        "innermost_loss",
        "bracket_width",
        "angles",
        "angles_none_lost",
        "tracks",
    ),
    domain=DOMAIN,
)
