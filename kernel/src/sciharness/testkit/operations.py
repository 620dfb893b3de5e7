"""Checks of capabilities and evaluators: they run, keep their promises, repeat and stop."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from sciharness.contract._criteria import ANY_METRIC
from sciharness.contract._resolve import ANY_INPUT
from sciharness.descriptors import Operation
from sciharness.plugin import Input
from sciharness.requests import apply_defaults, check_request
from sciharness.testkit.bench import Bench
from sciharness.testkit.examples import EXAMPLES_HINT, Examples
from sciharness.testkit.here import Tried
from sciharness.testkit.samples import sample_input, sample_judgement, sample_options
from sciharness.testkit.verdicts import Verdict, failed, judged, passed, skipped
from sciharness.workers.failures import ActionFailed

RUN_SECONDS = 120.0
ENDED = "was cancelled"  # what the pool says of a worker that it had to end
CANCEL_AFTER = 0.3

# What they hold differs from run to run by nature.
UNCOMPARED = frozenset({"benchmark_result", "environment"})

Json = Mapping[str, Any]  # Any: JSON values


@frozen
class Trial:
    """One operation with the parameters and inputs it is tried with."""

    bench: Bench
    operation: Operation
    params: Json
    inputs: Mapping[str, Input]

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.operation.operation

    def run(self, **job: Any) -> Tried:
        """Run it in a fresh worker."""
        given = {"seed": 1, "wall_limit": RUN_SECONDS, **job}
        return self.bench.run(self.name, self.params, self.inputs, **given)


def check(bench: Bench, operation: Operation, examples: Examples) -> Iterator[Verdict]:
    """Yield verdicts on one capability or evaluator."""
    name = operation.operation
    yield check_parameters(operation)
    trial, lacking = trial_of(bench, operation, examples)
    if trial is None:
        yield skipped("run", lacking, name)
        return
    try:
        first = trial.run()
    except ActionFailed as failure:
        yield failed("run", f"{failure.reason}: {failure.message}. {EXAMPLES_HINT}", name)
        return
    yield judged("run", _run_faults(operation, first), name, _shown(first))
    yield check_repeat(trial, first)
    yield _check_odd_values(trial)
    yield _check_cancelling(trial)
    if operation.kind == "evaluator":
        yield _check_judgement(trial, first)


def trial_of(bench: Bench, operation: Operation, examples: Examples) -> tuple[Trial | None, str]:
    """Return an operation with what it can be tried with, or why there is nothing."""
    example = examples.of(operation.operation)
    schema = operation.request_schema
    params = sample_options(schema, example.params)
    problems = check_request(schema, params)
    if problems:
        return None, f"no parameters to try: {problems[0]}. {EXAMPLES_HINT}"
    folder = bench.scratch()
    inputs = dict(example.inputs)
    if operation.kind == "evaluator" and not inputs:
        inputs = sample_judgement(folder, operation.task or "regression", right=False)
    for spec in operation.inputs:
        if spec.name == ANY_INPUT:
            continue  # none of them is needed
        sample = sample_input(spec, folder) if spec.name not in inputs else None
        if sample is not None:
            inputs[spec.name] = sample
        elif spec.name not in inputs and not spec.optional:
            kinds = " or ".join(spec.types)
            return None, f"no sample for the input {spec.name} ({kinds}). {EXAMPLES_HINT}"
    return Trial(bench, operation, params, inputs), ""


def check_parameters(operation: Operation) -> Verdict:
    """Return whether the schema takes its own defaults, and refuses what it does not know."""
    schema = operation.request_schema
    faults = []
    for name, part in schema["properties"].items():
        if "default" in part and check_request(schema, _with_needed(schema, name, part["default"])):
            faults.append(f"{name}: its own default is refused")
        wrong = _wrong_value(part)
        if not check_request(schema, _with_needed(schema, name, wrong)):
            faults.append(f"{name}: {wrong!r} is taken")
    return judged("parameters", faults, operation.operation)


def _with_needed(schema: Json, name: str, value: Any) -> dict[str, Any]:  # Any: JSON values
    return {**apply_defaults(schema, sample_options(schema, {})), name: value}


def _wrong_value(part: Json) -> Any:  # Any: JSON values
    """Return a value that no sensible schema of one type takes."""
    plain = {part.get("type"), *(option.get("type") for option in part.get("anyOf", ()))}
    return {"no": "such value"} if "object" not in plain else ["no such value"]


def _run_faults(operation: Operation, tried: Tried) -> list[str]:
    if ANY_METRIC in operation.metrics:
        return []
    never = sorted(set(operation.metrics) - set(tried.metrics))
    # Which ones depends on the data; none at all is a promise that was not kept.
    if operation.metrics and len(never) == len(operation.metrics):
        return [f"reports none of its metrics ({', '.join(never)})"]
    return []


def _shown(tried: Tried) -> str:
    metrics = ", ".join(f"{name}={value:.4g}" for name, value in sorted(tried.metrics.items()))
    return "; ".join(filter(None, (metrics, ", ".join(sorted(tried.artifacts)))))


def check_repeat(trial: Trial, first: Tried) -> Verdict:
    """Return whether it gives the same again with one seed, in another worker."""
    again = trial.run()
    declared = {output.name: output.type for output in trial.operation.outputs}
    faults = [
        f"{name}: {value!r}, then {again.metrics.get(name)!r}"
        for name, value in first.metrics.items()
        if again.metrics.get(name) != value
    ]
    names = sorted(set(first.artifacts) | set(again.artifacts))
    faults += [
        f"{name} differs"
        for name in names
        if declared.get(name) not in UNCOMPARED
        and _digest(first.artifacts.get(name)) != _digest(again.artifacts.get(name))
    ]
    return judged("same seed, same result", faults, trial.name)


def _digest(path: Path | None) -> str:
    return "" if path is None else hashlib.sha256(path.read_bytes()).hexdigest()


def _check_odd_values(trial: Trial) -> Verdict:
    """Numbers that its schema lets through end in a result or in a typed refusal."""
    faults = []
    for name, part in trial.operation.request_schema["properties"].items():
        for value in (0, -1) if part.get("type") in ("integer", "number") else ():
            params = {**trial.params, name: value}
            if check_request(trial.operation.request_schema, params):
                continue  # refused before the operation is asked
            try:
                Trial(trial.bench, trial.operation, params, trial.inputs).run(wall_limit=30.0)
            except ActionFailed as failure:
                if failure.reason not in ("data", "error", "request"):
                    faults.append(f"{name}={value}: {failure.reason}: {failure.message}")
    return judged("odd parameters", faults, trial.name)


def _check_cancelling(trial: Trial) -> Verdict:
    """Asked to stop, it stops by itself; a worker that has to be ended loses its results."""
    asked_at = time.monotonic() + CANCEL_AFTER
    try:
        trial.run(cancelled=lambda: time.monotonic() > asked_at)
    except ActionFailed as failure:
        if failure.reason == "cancelled" and ENDED in failure.message:
            said = "it had to be ended: look at context.cancelled in its loops"
            return failed("cancellation", said, trial.name)
        if failure.reason not in ("cancelled", "data", "error", "request"):
            said = f"{failure.reason}: {failure.message}"
            return failed("cancellation", said, trial.name)
    quick = time.monotonic() < asked_at
    said = "ended before it could be asked to stop" if quick else ""
    return passed("cancellation", said, trial.name)


def _check_judgement(trial: Trial, wrong: Tried) -> Verdict:
    """Right predictions get another value than wrong ones."""
    task = trial.operation.task or "regression"
    inputs = sample_judgement(trial.bench.scratch(), task, right=True)
    right = Trial(trial.bench, trial.operation, trial.params, inputs).run()
    same = dict(right.metrics) == dict(wrong.metrics)
    faults = ["right and wrong predictions get the same metrics"] if same else []
    return judged("judgement", faults, trial.name)
