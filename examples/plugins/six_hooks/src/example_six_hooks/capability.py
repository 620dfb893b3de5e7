"""A capability: how much the target of a table varies."""

from attrs import field, frozen
from attrs.validators import ge, le

from sciharness import Capability, Context, InputSpec, Outcome, OutputSpec, read_table


@frozen
class SpreadRequest:
    """Parameters: which share of the rows is left out at each end."""

    trim: float = field(
        default=0.0, validator=[ge(0.0), le(0.4)], metadata={"help": "share left out at each end"}
    )


def spread(request: SpreadRequest, context: Context) -> Outcome:
    """Return the range of the target between two quantiles."""
    import numpy as np  # here and not above: a worker that only describes stays quick

    target = np.asarray(read_table(context.inputs["data"]).y, dtype=float)
    low, high = map(float, np.quantile(target, [request.trim, 1.0 - request.trim]))
    context.output("spread.txt", "OTHER").write_text(f"{low!r} to {high!r}\n", "utf-8")
    return Outcome({"spread": high - low}, (f"the target lies in {low:.6g} to {high:.6g}",))


SPREAD = Capability(
    operation="spread",
    run=spread,
    request=SpreadRequest,
    summary="Tells how much the target varies.",
    group="analysis",
    inputs=(InputSpec("data", ("labelled_table",)),),
    outputs=(OutputSpec("spread.txt", "OTHER"),),
    metrics=("spread",),
)
