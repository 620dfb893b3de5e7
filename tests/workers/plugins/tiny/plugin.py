"""A few honest operations."""

import os
import time
from collections.abc import Mapping

from attrs import field, frozen, validators

from sciharness import Capability, Context, Evaluator, InputSpec, Outcome, OutputSpec, hookimpl


@frozen
class Nothing:
    """No parameters."""


@frozen
class Sum:
    """What to add up."""

    terms: tuple[float, ...] = ()
    factor: float = field(default=1.0, validator=validators.gt(0), metadata={"help": "times"})
    names: Mapping[str, int] = field(factory=dict)


def add(request: Sum, context: Context) -> Outcome:
    """Write and report a sum."""
    total = request.factor * sum(request.terms)
    context.output("total.txt", "OTHER").write_text(repr(total), "utf-8")
    context.progress(1.0, "added", total=total)
    context.charge(solver_calls=2)
    context.charge(solver_calls=1)
    context.log.info("done")
    return Outcome({"total": total}, ("a note",))


def nothing(request: Nothing, context: Context) -> Outcome:
    """Do nothing."""
    return Outcome()


def process(request: Nothing, context: Context) -> Outcome:
    """Report which process this is."""
    return Outcome({"value": float(os.getpid())})


def read(request: Nothing, context: Context) -> Outcome:
    """Note the text of an input."""
    return Outcome(notes=(context.inputs["data"].path.read_text("utf-8"),))


def where(request: Nothing, context: Context) -> Outcome:
    """Note the place of an input, which cannot be written."""
    path = context.inputs["data"].path
    try:
        path.write_text("changed", "utf-8")
    except PermissionError:
        return Outcome(notes=(str(path),))
    raise AssertionError("the input was writable")


def late(request: Nothing, context: Context) -> Outcome:
    """Import a module of our own late, and read a data file three ways."""
    import importlib.resources
    import inspect
    import pkgutil

    from harness_tiny import late as module  # type: ignore[import-not-found]  # once installed

    by_files = importlib.resources.files("harness_tiny").joinpath("words.txt").read_text("utf-8")
    by_loader = pkgutil.get_data("harness_tiny", "words.txt")
    assert by_loader is not None
    return Outcome(
        {"value": module.ANSWER}, (by_files, by_loader.decode(), inspect.getsource(module))
    )


def wait(request: Nothing, context: Context) -> Outcome:
    """Work until told to stop, with a checkpoint."""
    step = 0
    if context.restored is not None:
        step = int((context.restored / "step").read_text("utf-8"))
    (context.checkpoint() / "step").write_text(str(step + 1), "utf-8")
    context.progress(0.5, "waiting")
    end = time.monotonic() + 30
    while not context.cancelled and time.monotonic() < end:
        time.sleep(0.01)
    return Outcome({"value": float(step)})


def judge(request: Nothing, context: Context) -> Outcome:
    """Note the labels an evaluator was given."""
    text = context.inputs["labels"].path.read_text("utf-8")
    return Outcome({"score": 1.0}, (text,))


@hookimpl
def harness_capabilities() -> list[Capability]:
    """Register the operations."""
    group = "analysis"
    return [
        Capability(
            "add",
            add,
            Sum,
            "adds numbers",
            group,
            outputs=(OutputSpec("total.txt", "OTHER"),),
            metrics=("total",),
        ),
        Capability("nothing", nothing, Nothing, "nothing", group),
        Capability("process", process, Nothing, "process ID", group, metrics=("value",)),
        Capability("read", read, Nothing, "reads", group, inputs=(InputSpec("data"),)),
        Capability("where", where, Nothing, "locates", group, inputs=(InputSpec("data"),)),
        Capability("late", late, Nothing, "imports late", group, metrics=("value",)),
        Capability("wait", wait, Nothing, "waits", group, metrics=("value",)),
    ]


@hookimpl
def harness_evaluators() -> list[Evaluator]:
    """Register the evaluator."""
    return [Evaluator("judge", judge, Nothing, "judges", "regression", ("score",), ("score",))]
