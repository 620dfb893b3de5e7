"""Operations for models of survival: data sets and classifiers."""

from __future__ import annotations

from sciharness import PREDICTOR_OUTPUTS, Capability, Context, InputSpec, Outcome, OutputSpec
from sciharness_xsuite.datasets.request import StabilityRequest
from sciharness_xsuite.model.request import TrainRequest
from sciharness_xsuite.offers.common import DOMAIN, LATTICE, PART, pictures


def generate_stability_dataset(request: StabilityRequest, context: Context) -> Outcome:
    """Track particles of a domain and write which of them survived.

    Raises:
        RequestError: the parameters do not go together.
        DataError: the lattice cannot be kept, or all particles share one fate.
    """
    from sciharness_xsuite.datasets.operation import run  # numpy and xtrack, not to describe

    return run(request, context)


GENERATE_STABILITY_DATASET = Capability(
    operation="generate_stability_dataset",
    run=generate_stability_dataset,
    request=StabilityRequest,
    summary="Track particles of a domain; write a labelled table of which survive.",
    group="domain experiments",
    inputs=(
        LATTICE,
        InputSpec("particles", ("particles",), optional=True, summary="start values to begin with"),
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
        *PART,
        *pictures("survival_map.png", "loss_turns.png"),
    ),
    metrics=(
        "particles",
        "survivor_share",
        "minority_share",
        "survivor_share_in_domain",
    ),
    domain=DOMAIN,
    final_data=True,
)


def train_survival_model(request: TrainRequest, context: Context) -> Outcome:
    """Train a classifier of survival, calibrated, and write it as a predictor.

    Raises:
        DataError: the rows cannot be trained on.
    """
    from sciharness_xsuite.model.operation import run  # scikit-learn, as above

    return run(request, context)


TRAIN_SURVIVAL_MODEL = Capability(
    operation="train_survival_model",
    run=train_survival_model,
    request=TrainRequest,
    summary="Train a survival classifier with calibrated probabilities.",
    group="execution and training",
    inputs=(InputSpec("data", ("labelled_table", "DATASET"), summary="tracked start values"),),
    outputs=(
        OutputSpec("model_selection.json", "analysis_result"),
        *PREDICTOR_OUTPUTS,
        *PART,
        *pictures("model_map.png", "reliability.png"),
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
)
