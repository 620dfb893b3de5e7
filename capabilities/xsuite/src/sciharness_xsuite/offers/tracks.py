"""Operations on the beam of a lattice: ``twiss``, ``track``."""

from __future__ import annotations

from sciharness import Capability, Context, InputSpec, Outcome, OutputSpec
from sciharness_xsuite.offers.common import DOMAIN, LATTICE, PART, pictures
from sciharness_xsuite.requests import TrackRequest, TwissRequest

TWISS_METRICS = (
    "stable",
    "qx",
    "qy",
    "qs",
    "dqx",
    "dqy",
    "betx_max_m",
    "bety_max_m",
    "dx_max_m",
    "orbit_x_max_m",
    "orbit_y_max_m",
    "circumference_m",
)
TRACK_METRICS = (
    "particles",
    "turns",
    "survived",
    "lost",
    "survival_fraction",
    "first_loss_turn",
    "last_loss_turn",
)


def twiss(request: TwissRequest, context: Context) -> Outcome:
    """Find tunes, chromaticities, closed orbit and optics, or say why there are none.

    Raises:
        DataError: the lattice is refused.
    """
    from sciharness_xsuite.twissing import run  # xtrack takes seconds to import

    return run(request, context)


TWISS = Capability(
    operation="twiss",
    run=twiss,
    request=TwissRequest,
    summary="Tunes, chromaticities, closed orbit, beta functions and dispersion.",
    group="domain experiments",
    domain=DOMAIN,
    inputs=(LATTICE,),
    outputs=(
        OutputSpec("twiss.json", "analysis_result"),
        OutputSpec("twiss.csv", "OTHER", optional=True),
        *PART,
        *pictures("optics.png"),
    ),
    metrics=TWISS_METRICS,
)


def track(request: TrackRequest, context: Context) -> Outcome:
    """Track particles and say which survived, and where the others were lost.

    Raises:
        DataError: lattice, particles or an earlier result are refused.
        RequestError: there is no source of particles, or several.
    """
    from sciharness_xsuite.tracking.operation import run  # as above

    return run(request, context)


TRACK = Capability(
    operation="track",
    run=track,
    request=TrackRequest,
    summary="Track particles for many turns: who survives, where and when others are lost.",
    group="domain experiments",
    domain=DOMAIN,
    inputs=(
        LATTICE,
        InputSpec(
            "particles",
            ("particles", "table", "context_data"),
            optional=True,
            summary="start coordinates: CSV, NPY or context.data",
        ),
        InputSpec(
            "previous",
            ("tracking_state",),
            optional=True,
            summary="state.npz of an earlier track, to go on from",
        ),
    ),
    outputs=(
        OutputSpec("particles.csv", "DATASET", optional=True),
        OutputSpec("particles.parquet", "DATASET", optional=True),
        OutputSpec("tracking.json", "analysis_result"),
        OutputSpec("state.npz", "tracking_state"),
        OutputSpec("turns.npy", "OTHER", optional=True),
    ),
    metrics=TRACK_METRICS,
)
