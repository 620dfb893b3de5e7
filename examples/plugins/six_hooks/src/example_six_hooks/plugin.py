"""What the entry point names: one function for each hook."""

from example_six_hooks.capability import SPREAD
from example_six_hooks.evaluator import WITHIN
from example_six_hooks.executor import GENTLE
from example_six_hooks.publisher import SHEET
from example_six_hooks.reasoner import SWEEP
from example_six_hooks.reviewer import PLAIN_FILES
from sciharness import (
    Capability,
    Evaluator,
    Executor,
    Publisher,
    Reasoner,
    Reviewer,
    hookimpl,
)

HOOK_API = 1


@hookimpl
def harness_capabilities() -> list[Capability]:
    """Return what a contract may lease."""
    return [SPREAD]


@hookimpl
def harness_evaluators() -> list[Evaluator]:
    """Return what judges predictors."""
    return [WITHIN]


@hookimpl
def harness_reviewers() -> list[Reviewer]:
    """Return what judges packages."""
    return [PLAIN_FILES]


@hookimpl
def harness_publishers() -> list[Publisher]:
    """Return what makes packages."""
    return [SHEET]


@hookimpl
def harness_reasoners() -> list[Reasoner]:
    """Return what proposes actions."""
    return [SWEEP]


@hookimpl
def harness_executors() -> list[Executor]:
    """Return what says how programs are started."""
    return [GENTLE]
