"""Checks of roles: reasoners, executors, reviewers and publishers answer as their hook says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve

from sciharness.descriptors import Operation
from sciharness.errors import HarnessError
from sciharness.plugin import Input, InputSpec
from sciharness.requests import check_request
from sciharness.roles import Finish, Launch, Proposal, Review
from sciharness.runtime.programs import wrapped
from sciharness.testkit.bench import Bench
from sciharness.testkit.examples import EXAMPLES_HINT, Examples
from sciharness.testkit.operations import Trial, check_parameters, check_repeat, trial_of
from sciharness.testkit.samples import (
    sample_options,
    sample_package,
    sample_program,
    sample_view,
)
from sciharness.testkit.verdicts import Verdict, failed, judged, passed, skipped

ASK_SECONDS = 60.0

Answer = Proposal | Finish | Launch | Review


def check(bench: Bench, operation: Operation, examples: Examples) -> Iterator[Verdict]:
    """Yield verdicts on one role."""
    yield check_parameters(operation)
    if operation.kind == "publisher":
        yield from _check_publisher(bench, operation, examples)
        return
    options = sample_options(operation.request_schema, examples.of(operation.operation).params)
    problems = check_request(operation.request_schema, options)
    if problems:
        said = f"no options to try: {problems[0]}. {EXAMPLES_HINT}"
        yield skipped("answer", said, operation.operation)
        return
    try:
        first = _ask(bench, operation, options)
    except HarnessError as failure:
        yield failed("answer", f"{failure}. {EXAMPLES_HINT}", operation.operation)
        return
    yield passed("answer", _shown(first), operation.operation)
    if operation.network:
        yield skipped("same answer", "it asks for the network", operation.operation)
    else:
        faults = [] if _ask(bench, operation, options) == first else ["another one the next time"]
        yield judged("same answer", faults, operation.operation)


def _ask(bench: Bench, operation: Operation, options: Mapping[str, Any]) -> Answer:
    name = operation.operation
    if operation.kind == "reviewer":
        package = sample_package(bench.folder)
        given = {"package": Input("package", package.folder, "directory_bundle")}
        return bench.ask(name, {}, package, inputs=given, wall_limit=ASK_SECONDS)
    if operation.kind == "reasoner":
        return bench.ask(name, options, sample_view(), seed=1, wall_limit=ASK_SECONDS)
    program = sample_program()
    answer = bench.ask(name, options, program, wall_limit=ASK_SECONDS)
    assert isinstance(answer, Launch)
    wrapped(program, answer)  # raises what the kernel would say of it
    return answer


def _shown(answer: Answer) -> str:
    if isinstance(answer, Proposal):
        return f"proposes {answer.use}"
    if isinstance(answer, Finish):
        return f"finishes: {answer.message}"
    if isinstance(answer, Launch):
        return f"puts {' '.join(answer.prefix) or 'nothing'} in front"
    verdict = "accepts" if answer.accepted else "refuses"
    return f"{verdict} a harmless package" + ("" if answer.performed else " unseen")


def _check_publisher(bench: Bench, operation: Operation, examples: Examples) -> Iterator[Verdict]:
    name = operation.operation
    # The run's record has no artifact type of its own: the kernel binds it by its name.
    specs = (evolve(one, types=("run",)) if one.name == "run" else one for one in operation.inputs)
    given = evolve(operation, inputs=(*specs, InputSpec("run", ("run",))))
    trial, lacking = trial_of(bench, given, examples)
    if trial is None:
        yield skipped("run", lacking, name)
        return
    identity = {"id": "example.sample", "version": "1.0.0"}
    trial = Trial(bench, operation, {**trial.params, **identity}, trial.inputs)
    try:
        first = trial.run()
    except HarnessError as failure:
        yield failed("run", f"{failure}. {EXAMPLES_HINT}", name)
        return
    faults = [] if first.artifacts else ["writes no file, so there is no package"]
    yield judged("run", faults, name, ", ".join(sorted(first.artifacts)))
    yield check_repeat(trial, first)
