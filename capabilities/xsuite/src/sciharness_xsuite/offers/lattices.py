"""Operations that read a lattice: ``load_check``, ``madx_to_xsuite_json``."""

from __future__ import annotations

from sciharness import Capability, Context, InputSpec, Outcome, OutputSpec
from sciharness_xsuite.offers.common import DOMAIN, LATTICE
from sciharness_xsuite.requests import LoadCheckRequest, MadxRequest

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


def load_check(request: LoadCheckRequest, context: Context) -> Outcome:
    """Read a lattice by rules of our own and say what it holds.

    Raises:
        DataError: the file is another format, or something in it cannot be kept.
    """
    from sciharness_xsuite.checking import run  # xtrack takes seconds to import

    return run(request, context)


LOAD_CHECK = Capability(
    operation="load_check",
    run=load_check,
    request=LoadCheckRequest,
    summary="Read a lattice as data only and say what it holds, drops and lacks.",
    group="analysis",
    domain=DOMAIN,
    inputs=(LATTICE,),
    outputs=(OutputSpec("lattice_check.json", "analysis_result"),),
    metrics=LOAD_METRICS,
)


def madx_to_xsuite_json(request: MadxRequest, context: Context) -> Outcome:
    """Turn a MAD-X sequence into Line.to_dict JSON with xtrack's own parser.

    Raises:
        DataError: the text runs programs, reads outside its folder or is not understood.
    """
    from sciharness_xsuite.madx.operation import run  # as above

    return run(request, context)


MADX_TO_XSUITE_JSON = Capability(
    operation="madx_to_xsuite_json",
    run=madx_to_xsuite_json,
    request=MadxRequest,
    summary="Turn MAD-X files into Xsuite JSON, without running MAD-X.",
    group="analysis",
    domain=DOMAIN,
    inputs=(
        InputSpec("source", ("lattice", "other"), summary="a MAD-X file, or a folder of them"),
    ),
    outputs=(OutputSpec("ring.json", "lattice"),),
    metrics=LOAD_METRICS,
)
