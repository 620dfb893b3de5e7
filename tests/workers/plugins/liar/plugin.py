"""Operations that lie, each in one way."""

from attrs import frozen

from sciharness import Capability, Context, Outcome, hookimpl


@frozen
class How:
    """Which lie."""

    how: str = ""


def metric(request: How, context: Context) -> Outcome:
    """Report something that is no declared finite float."""
    values = {
        "nan": float("nan"),
        "infinite": float("inf"),
        "true": True,
        "text": "0.99",
        "none": None,
        "huge": 10**400,
    }
    if request.how == "undeclared":
        return Outcome({"other": 1.0})
    if request.how == "all":
        return Outcome({"value": 1.0, **values})
    return Outcome({"value": values[request.how]})


@hookimpl
def harness_capabilities() -> list[Capability]:
    """Register the lies."""
    return [Capability("metric", metric, How, "lies", "analysis", metrics=("value",))]
