"""The plugin: from a formula to a verified claim, one reviewed step after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import field, frozen
from attrs.validators import and_, gt, in_, le, min_len

from sciharness import Capability, Context, InputSpec, Outcome, OutputSpec, hookimpl

GROUP = "knowledge and verification"
HYPOTHESIS = InputSpec("hypothesis", ("hypothesis",))
REFIT_METRICS = (
    "verification_relative_rmse",
    "refit_relative_rmse",
    "constants_confirmed",
    "hypothesis_verified",
)


@frozen
class HypothesisRequest:
    """What the hypothesis says: the chosen formula holds within ``tolerance``."""

    tolerance: float = field(
        default=0.05,
        validator=gt(0.0),
        metadata={"help": "Largest relative RMSE on new rows with which the formula holds."},
    )
    candidate: int | None = field(
        default=None, metadata={"help": "Candidate of formulas.json by index; default: the chosen."}
    )
    statement: str = field(
        default="", metadata={"help": "The hypothesis in words; default: written from the formula."}
    )


def hypothesise(request: HypothesisRequest, context: Context) -> Outcome:
    """Write ``hypothesis.json``, a new version if ``previous`` is given.

    Raises:
        DataError: formulas.json has no such candidate.
    """
    from sciharness_verification.hypotheses import write_hypothesis

    return write_hypothesis(request, context)


HYPOTHESISE = Capability(
    operation="hypothesise",
    run=hypothesise,
    request=HypothesisRequest,
    summary="State that a formula holds within a tolerance.",
    group=GROUP,
    inputs=(
        InputSpec("formulas", ("analysis_result",)),
        InputSpec("previous", ("hypothesis",), optional=True),
    ),
    outputs=(OutputSpec("hypothesis.json", "hypothesis"),),
)


@frozen
class PlanRequest:
    """How the hypothesis will be tested."""

    refit_share: float = field(
        default=0.5,
        validator=and_(gt(0.0), le(0.9)),
        metadata={"help": "Share of the verification rows on which constants are fitted again."},
    )
    method: Literal["refit"] = field(
        default="refit", validator=in_(("refit",)), metadata={"help": "The kind of test."}
    )


def plan(request: PlanRequest, context: Context) -> Outcome:
    """Write ``verification_plan.json``; a person approves it before it is carried out."""
    from sciharness_verification.hypotheses import write_plan

    return write_plan(request, context)


PLAN = Capability(
    operation="plan",
    run=plan,
    request=PlanRequest,
    summary="Plan how a hypothesis is tested; a person approves the plan.",
    group=GROUP,
    inputs=(HYPOTHESIS,),
    outputs=(OutputSpec("verification_plan.json", "verification_plan"),),
)


@frozen
class RefitRequest:
    """Nothing can be chosen here: the approved plan says everything."""


def refit(request: RefitRequest, context: Context) -> Outcome:
    """Fit the constants again and test the formula on rows that the search did not use.

    Writes ``verification_result.json`` and ``evidence.json``.

    Raises:
        DataError: plan and hypothesis do not belong together, or rows are too few.
    """
    from sciharness_verification.refitting import carry_out  # numpy and scipy

    return carry_out(context)


REFIT = Capability(
    operation="refit",
    run=refit,
    request=RefitRequest,
    summary="Carry out an approved plan on rows that the search did not use.",
    group=GROUP,
    inputs=(
        InputSpec("plan", ("verification_plan",)),
        HYPOTHESIS,
        InputSpec("data", ("labelled_table",)),
    ),
    outputs=(
        OutputSpec("verification_result.json", "verification_result"),
        OutputSpec("evidence.json", "evidence"),
    ),
    metrics=REFIT_METRICS,
)


@frozen
class ClaimRequest:
    """The claim in words."""

    text: str = field(validator=min_len(1), metadata={"help": "The claim in one sentence."})


def claim(request: ClaimRequest, context: Context) -> Outcome:
    """Write ``scientific_claim.json`` that names its evidence by artifact ID.

    Raises:
        DataError: the evidence does not support a claim.
    """
    from sciharness_verification.hypotheses import write_claim

    return write_claim(request.text, context)


CLAIM = Capability(
    operation="claim",
    run=claim,
    request=ClaimRequest,
    summary="Claim what the evidence shows, naming it.",
    group=GROUP,
    inputs=(InputSpec("evidence", ("evidence",)),),
    outputs=(OutputSpec("scientific_claim.json", "scientific_claim"),),
)


@hookimpl
def harness_capabilities() -> Sequence[Capability]:
    """Return the four operations of the workflow."""
    return (HYPOTHESISE, PLAN, REFIT, CLAIM)
