"""Operations that vary a lattice or its integration: ``scan``, ``convergence``."""

from __future__ import annotations

from sciharness import Capability, Context, InputSpec, Outcome, OutputSpec
from sciharness_xsuite.convergence.request import ConvergenceRequest
from sciharness_xsuite.offers.common import DOMAIN, LATTICE, PART, pictures
from sciharness_xsuite.scans.request import ScanRequest


def scan(request: ScanRequest, context: Context) -> Outcome:
    """Find tunes, boundaries or apertures over one to three parameters of lattice or beam.

    Raises:
        RequestError: the parameters do not fit the lattice or each other.
        DataError: the lattice cannot be kept, or no cell gave a result.
    """
    from sciharness_xsuite.scans.operation import run  # numpy and xtrack, not to describe

    return run(request, context)


SCAN = Capability(
    operation="scan",
    run=scan,
    request=ScanRequest,
    summary="Find tunes, boundaries or apertures over one to three parameters.",
    group="domain experiments",
    inputs=(
        LATTICE,
        InputSpec(
            "previous",
            ("analysis_result",),
            optional=True,
            summary="scan_cells.json of an earlier scan, whose cells are used again",
        ),
    ),
    outputs=(
        OutputSpec("scan.csv", "DATASET", optional=True),
        OutputSpec("scan.parquet", "DATASET", optional=True),
        OutputSpec("scan_cells.json", "analysis_result"),
        *PART,
        *pictures("scan.png"),
    ),
    metrics=("cells", "cells_finished", "cells_reused", "smallest", "largest"),
    domain=DOMAIN,
)


def convergence(request: ConvergenceRequest, context: Context) -> Outcome:
    """Tell how tunes, chromaticities and survival change with integrator and kick count.

    Raises:
        DataError: the lattice cannot be kept, or it was cancelled.
    """
    from sciharness_xsuite.convergence.operation import run  # as above

    return run(request, context)


CONVERGENCE = Capability(
    operation="convergence",
    run=convergence,
    request=ConvergenceRequest,
    summary="Tell how results change with integrator and kick count.",
    group="analysis",
    inputs=(LATTICE,),
    outputs=(
        OutputSpec("convergence.csv", "DATASET"),
        *PART,
        *pictures("convergence.png"),
    ),
    metrics=(
        "converged",
        "dq_max",
        "dchroma_max",
        "fates_changed",
        "xtrack_dq_max",
        "xtrack_dchroma_max",
        "xtrack_fates_changed",
    ),
    domain=DOMAIN,
)
