"""A reasoner: tries one parameter of one capability until the criteria are met."""

from typing import Any

from attrs import field, frozen

from sciharness import Context, Finish, Proposal, Reasoner, ReasonerView


@frozen
class SweepOptions:
    """Options of `reasoner: {use: example.six.sweep, ...}` in a contract."""

    capability: str = field(metadata={"help": "what to run"})
    parameter: str = field(metadata={"help": "which of its parameters to change"})
    values: tuple[Any, ...] = field(metadata={"help": "the values to try, in order"})


def sweep(request: SweepOptions, view: ReasonerView, context: Context) -> Proposal | Finish:
    """Propose the next value, or finish."""
    if view.criteria and all(one["met"] for one in view.criteria):
        return Finish("the criteria are met")
    tried = [one for one in (*view.actions, *view.refusals) if one["use"] == request.capability]
    if len(tried) == len(request.values):
        return Finish("every value was tried")
    value = request.values[len(tried)]
    return Proposal(
        use=request.capability,
        inputs={"data": view.inputs[0]["name"]},
        params={request.parameter: value},
        why=f"value {len(tried) + 1} of {len(request.values)}",
    )


SWEEP = Reasoner(
    operation="sweep",
    run=sweep,
    request=SweepOptions,
    summary="Tries one parameter of one capability until the criteria are met.",
)
