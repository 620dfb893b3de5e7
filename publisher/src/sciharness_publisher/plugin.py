"""The publishers that come with sciharness."""

from __future__ import annotations

from collections.abc import Sequence

from sciharness import Context, InputSpec, Outcome, Publisher, hookimpl
from sciharness_publisher.request import PublishRequest


def publish(request: PublishRequest, context: Context) -> Outcome:
    """Write a wheel that predicts as the frozen predictor does, and its attestation.

    Raises:
        DeliveryError: ID or version cannot be those of a package.
    """
    from sciharness_publisher.publishing import publish as publish_predictor  # not to describe

    return publish_predictor(request.id, request.version, context)


@hookimpl
def harness_publishers() -> Sequence[Publisher]:
    """Return the publisher of predictors."""
    return (
        Publisher(
            operation="publish",
            run=publish,
            request=PublishRequest,
            summary="Make an installable package of the frozen predictor, with an attestation.",
            delivers=("predictor_plugin",),
            inputs=(
                InputSpec("model", ("model",)),
                InputSpec("inference", ("inference.source.python",)),
                InputSpec("card", ("model_card",)),
                InputSpec("evaluation", ("predictor.evaluation",)),
                InputSpec("example", ("MINIMAL_EXAMPLE",), optional=True),
                InputSpec("guide", ("USAGE_GUIDE",), optional=True),
                InputSpec("solver", ("solver_bundle",), optional=True),
                InputSpec("run"),
            ),
        ),
    )
