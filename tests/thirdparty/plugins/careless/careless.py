"""A plugin that breaks each rule of the conformance kit once."""

from __future__ import annotations

import os
import random
import time
from typing import Any

import numpy  # noqa: F401  loaded for nothing, and by every worker
from attrs import field, frozen

from sciharness import (
    Capability,
    Context,
    Evaluator,
    Executor,
    Launch,
    Outcome,
    OutputSpec,
    Program,
    Reasoner,
    ReasonerView,
    hookimpl,
)

HELP = {"help": "a number"}


@frozen
class Nothing:
    """No parameters."""


@frozen
class Loose:
    """Parameters that say nothing."""

    anything: Any = field(default=None, metadata=HELP)
    silent: int = 1


@frozen
class Number:
    """One number, whose bounds are forgotten."""

    value: int = field(default=1, metadata=HELP)


def fine(request: object, context: Context) -> Outcome:
    """Do nothing wrong."""
    return Outcome({"value": 1.0})


def moody(request: object, context: Context) -> Outcome:
    """Give other results each time."""
    context.output("mood.txt", "OTHER").write_text(repr(random.random()), "utf-8")
    return Outcome({"value": random.random()})


def deaf(request: object, context: Context) -> Outcome:
    """Work on, whoever asks to stop."""
    time.sleep(4.0)
    return Outcome({"value": 1.0})


def fragile(request: Number, context: Context) -> Outcome:
    """Fall over a value that its schema lets through."""
    if request.value < 0:
        os.abort()
    return Outcome({"value": 1.0})


def forgetful(request: object, context: Context) -> Outcome:
    """Report what was never declared."""
    return Outcome({"other": 1.0})


def mute(request: object, context: Context) -> Outcome:
    """Report nothing of what was declared."""
    return Outcome()


def flatter(request: object, context: Context) -> Outcome:
    """Find everything perfect."""
    return Outcome({"score": 1.0})


def greedy(request: object, program: Program, context: Context) -> Launch:
    """Ask for more time than there is."""
    return Launch(wall_seconds=1e9)


def silent(request: object, view: ReasonerView, context: Context) -> None:
    """Answer nothing."""


@hookimpl
def harness_capabilities() -> list[Capability]:
    """Register the capabilities, each with one fault."""
    group, value = "analysis", ("value",)
    mood = (OutputSpec("mood.txt", "OTHER"),)
    misspelled = (OutputSpec("data.csv", "dataset", optional=True),)
    return [
        Capability("loose", fine, Loose, "", group, metrics=value),
        Capability("moody", moody, Nothing, "Moody.", group, outputs=mood, metrics=value),
        Capability("deaf", deaf, Nothing, "Deaf.", group, metrics=value),
        Capability("fragile", fragile, Number, "Fragile.", group, metrics=value),
        Capability("forgetful", forgetful, Nothing, "Forgetful.", group, metrics=value),
        Capability("mute", mute, Nothing, "Mute.", group, metrics=value),
        Capability("spelled", fine, Nothing, "x" * 200, group, (), misspelled, value),
        Capability("paid", fine, Nothing, "Paid.", group, metrics=value, charges=("gold",)),
    ]


@hookimpl
def harness_evaluators() -> list[Evaluator]:
    """Register an evaluator that finds everything perfect."""
    return [Evaluator("flatter", flatter, Nothing, "Flatters.", "regression", ("score",))]


@hookimpl
def harness_executors() -> list[Executor]:
    """Register an executor that asks for too much."""
    return [Executor("greedy", greedy, "Is greedy.")]


@hookimpl
def harness_reasoners() -> list[Reasoner]:
    """Register a reasoner that answers nothing."""
    return [Reasoner("silent", silent, "Is silent.")]  # type: ignore[arg-type]
