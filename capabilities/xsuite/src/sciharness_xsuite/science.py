"""Operations on survival: data sets, boundaries, apertures, scans, convergence, models."""

from __future__ import annotations

from sciharness import Capability, Context, InputSpec, Outcome, OutputSpec
from sciharness_xsuite.boundary.request import ApertureRequest, BoundaryRequest, MomentumRequest
from sciharness_xsuite.convergence.request import ConvergenceRequest
from sciharness_xsuite.datasets.request import StabilityRequest
from sciharness_xsuite.model.request import TrainRequest
from sciharness_xsuite.offers import DOMAIN, LATTICE
from sciharness_xsuite.scans.request import ScanRequest

_PART = (OutputSpec("report_part.json", "report_part", optional=True),)


def _pictures(*names: str) -> tuple[OutputSpec, ...]:
    return tuple(OutputSpec(name, "OTHER", optional=True) for name in names)


def generate_stability_dataset(request: StabilityRequest, context: Context) -> Outcome:
    """Track particles of a domain and write which of them survived.

    Raises:
        RequestError: the parameters do not go together.
        DataError: the lattice cannot be kept, or all particles share one fate.
    """
    from sciharness_xsuite.datasets.operation import run  # numpy and xtrack, not to describe

    return run(request, context)


def train_survival_model(request: TrainRequest, context: Context) -> Outcome:
    """Train a classifier of survival, calibrated, and write it as a predictor.

    Raises:
        DataError: the rows cannot be trained on.
    """
    from sciharness_xsuite.model.operation import run  # scikit-learn, as above

    return run(request, context)


def survival_boundary(request: BoundaryRequest, context: Context) -> Outcome:
    """Find where survival ends along one direction of start values.

    Raises:
        RequestError: the direction adds to no coordinate.
        DataError: the lattice cannot be kept, or the search was cancelled.
    """
    from sciharness_xsuite.boundary.along import run_boundary  # numpy and xtrack

    return run_boundary(request, context)


def momentum_aperture(request: MomentumRequest, context: Context) -> Outcome:
    """Find the largest momentum deviations that survive, up and down.

    Raises:
        DataError: the lattice cannot be kept, or the search was cancelled.
    """
    from sciharness_xsuite.boundary.along import run_momentum  # as above

    return run_momentum(request, context)


def dynamic_aperture(request: ApertureRequest, context: Context) -> Outcome:
    """Find the dynamic aperture over angles in the plane of x and y.

    Raises:
        RequestError: sigma units without emittances, or angles in falling order.
        DataError: the lattice cannot be kept, or the search was cancelled.
    """
    from sciharness_xsuite.boundary.aperture import run  # as above

    return run(request, context)


def scan(request: ScanRequest, context: Context) -> Outcome:
    """Find tunes, boundaries or apertures over one to three parameters of lattice or beam.

    Raises:
        RequestError: the parameters do not fit the lattice or each other.
        DataError: the lattice cannot be kept, or no cell gave a result.
    """
    from sciharness_xsuite.scans.operation import run  # as above

    return run(request, context)


def convergence(request: ConvergenceRequest, context: Context) -> Outcome:
    """Tell how tunes, chromaticities and survival change with integrator and kick count.

    Raises:
        DataError: the lattice cannot be kept, or it was cancelled.
    """
    from sciharness_xsuite.convergence.operation import run  # as above

    return run(request, context)


def science_capabilities() -> tuple[Capability, ...]:
    """Return the operations on survival."""
    return (*_boundaries(), *_studies(), *_models())


def _boundaries() -> tuple[Capability, ...]:
    return (
        Capability(
            operation="survival_boundary",
            run=survival_boundary,
            request=BoundaryRequest,
            summary="Find where survival ends along any coordinate or direction.",
            group="domain experiments",
            inputs=(LATTICE,),
            outputs=(OutputSpec("boundary.csv", "DATASET"), *_PART, *_pictures("boundary.png")),
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
        ),
        Capability(
            operation="momentum_aperture",
            run=momentum_aperture,
            request=MomentumRequest,
            summary="Find the largest momentum deviations that survive, up and down.",
            group="domain experiments",
            inputs=(LATTICE,),
            outputs=(
                OutputSpec("momentum_aperture.csv", "DATASET"),
                *_PART,
                *_pictures("boundary.png"),
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
        ),
        Capability(
            operation="dynamic_aperture",
            run=dynamic_aperture,
            request=ApertureRequest,
            summary="Find the dynamic aperture over angles, in metres or sigma.",
            group="domain experiments",
            inputs=(LATTICE,),
            outputs=(
                OutputSpec("aperture.csv", "DATASET"),
                OutputSpec("particles.csv", "OTHER"),
                *_PART,
                *_pictures("aperture.png", "aperture_by_angle.png", "aperture_by_turns.png"),
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
        ),
    )


def _studies() -> tuple[Capability, ...]:
    return (
        Capability(
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
                *_PART,
                *_pictures("scan.png"),
            ),
            metrics=("cells", "cells_finished", "cells_reused", "smallest", "largest"),
            domain=DOMAIN,
        ),
        Capability(
            operation="convergence",
            run=convergence,
            request=ConvergenceRequest,
            summary="Tell how results change with integrator and kick count.",
            group="analysis",
            inputs=(LATTICE,),
            outputs=(
                OutputSpec("convergence.csv", "DATASET"),
                *_PART,
                *_pictures("convergence.png"),
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
        ),
    )


def _models() -> tuple[Capability, ...]:
    return (
        Capability(
            operation="generate_stability_dataset",
            run=generate_stability_dataset,
            request=StabilityRequest,
            summary="Track particles of a domain; write a labelled table of which survive.",
            group="domain experiments",
            inputs=(
                LATTICE,
                InputSpec(
                    "particles", ("particles",), optional=True, summary="start values to begin with"
                ),
                InputSpec(
                    "predictor",
                    ("predictor",),
                    optional=True,
                    summary="of an evaluation set: the model that it is made for",
                ),
            ),
            outputs=(
                OutputSpec("dataset.csv", "DATASET"),
                OutputSpec("particles.csv", "OTHER", optional=True),
                OutputSpec("context.data.tar", "directory_bundle", optional=True),
                *_PART,
                *_pictures("survival_map.png", "loss_turns.png"),
            ),
            metrics=(
                "particles",
                "survivor_share",
                "minority_share",
                "survivor_share_in_domain",
            ),
            domain=DOMAIN,
            final_data=True,
        ),
        Capability(
            operation="train_survival_model",
            run=train_survival_model,
            request=TrainRequest,
            summary="Train a survival classifier with calibrated probabilities.",
            group="execution and training",
            inputs=(
                InputSpec("data", ("labelled_table", "DATASET"), summary="tracked start values"),
            ),
            outputs=(
                OutputSpec("model_selection.json", "analysis_result"),
                OutputSpec("model.json", "model"),
                OutputSpec("inference.py", "inference.source.python"),
                OutputSpec("model_card.json", "model_card"),
                OutputSpec("minimal_example.py", "MINIMAL_EXAMPLE"),
                OutputSpec("usage_guide.md", "USAGE_GUIDE"),
                *_PART,
                *_pictures("model_map.png", "reliability.png"),
            ),
            metrics=(
                "balanced_accuracy",
                "accuracy",
                "brier",
                "auc",
                "log_loss",
                "balanced_accuracy_over_domain",
                "brier_over_domain",
            ),
            domain=DOMAIN,
        ),
    )
