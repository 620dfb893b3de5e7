"""Operations on lattices, optics and tracks, as records for the plugin."""

from __future__ import annotations

from sciharness import Capability, Context, InputSpec, Outcome, OutputSpec
from sciharness_xsuite.requests import (
    LoadCheckRequest,
    MadxRequest,
    TrackRequest,
    TwissRequest,
)

DOMAIN = "accelerator physics"
LATTICE = InputSpec("lattice", ("lattice",), summary="Line.to_dict JSON, also packed with gzip")

LOAD_METRICS = (
    "elements",
    "circumference_m",
    "p0c_ev",
    "pure_dipoles",
    "combined_function_bends",
    "apertures",
    "active_rf",
    "stable",
)
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


def load_check(request: LoadCheckRequest, context: Context) -> Outcome:
    """Read a lattice by rules of our own and say what it holds.

    Raises:
        DataError: the file is another format, or something in it cannot be kept.
    """
    from sciharness_xsuite.checking import run  # xtrack takes seconds to import

    return run(request, context)


def madx_to_xsuite_json(request: MadxRequest, context: Context) -> Outcome:
    """Turn a MAD-X sequence into Line.to_dict JSON with xtrack's own parser.

    Raises:
        DataError: the text runs programs, reads outside its folder or is not understood.
    """
    from sciharness_xsuite.madx.operation import run  # as above

    return run(request, context)


def twiss(request: TwissRequest, context: Context) -> Outcome:
    """Find tunes, chromaticities, closed orbit and optics, or say why there are none.

    Raises:
        DataError: the lattice is refused.
    """
    from sciharness_xsuite.twissing import run  # as above

    return run(request, context)


def track(request: TrackRequest, context: Context) -> Outcome:
    """Track particles and say which survived, and where the others were lost.

    Raises:
        DataError: lattice, particles or an earlier result are refused.
        RequestError: there is no source of particles, or several.
    """
    from sciharness_xsuite.tracking.operation import run  # as above

    return run(request, context)


def core_capabilities() -> tuple[Capability, ...]:
    """Return the operations that read, describe and track."""
    return (
        Capability(
            operation="load_check",
            run=load_check,
            request=LoadCheckRequest,
            summary="Read a lattice as data only and say what it holds, drops and lacks.",
            group="analysis",
            domain=DOMAIN,
            inputs=(LATTICE,),
            outputs=(OutputSpec("lattice_check.json", "analysis_result"),),
            metrics=LOAD_METRICS,
        ),
        Capability(
            operation="madx_to_xsuite_json",
            run=madx_to_xsuite_json,
            request=MadxRequest,
            summary="Turn MAD-X files into Xsuite JSON, without running MAD-X.",
            group="analysis",
            domain=DOMAIN,
            inputs=(
                InputSpec(
                    "source", ("lattice", "other"), summary="a MAD-X file, or a folder of them"
                ),
            ),
            outputs=(OutputSpec("ring.json", "lattice"),),
            metrics=LOAD_METRICS,
        ),
        Capability(
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
                OutputSpec("report_part.json", "report_part", optional=True),
                OutputSpec("optics.png", "OTHER", optional=True),
            ),
            metrics=TWISS_METRICS,
        ),
        Capability(
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
        ),
    )
