"""Copying the configuration of an earlier run into a contract to fill in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from sciharness.contract.durations import show_duration
from sciharness.contract.records import COUNTED_BUDGET_KEYS, SCHEMA
from sciharness.errors import HarnessError
from sciharness.plugins import Plugins
from sciharness.runtime.records import to_plain
from sciharness.runtime.state import RunState
from sciharness.store.home import Home


@frozen
class Copied:
    """The text of a contract, and what of the earlier run it does not have.

    ``dropped`` maps capabilities that cannot be leased today to the reason;
    ``inputs`` names those of the earlier run.
    """

    text: str
    capabilities: tuple[str, ...]
    dropped: dict[str, str]
    inputs: tuple[str, ...]


def copied_contract(home: Home, state: RunState) -> Copied:
    """Return a contract with the goal, questions, workflow and rules of an earlier run.

    It has no inputs, steps, permissions or choice of reasoner: those belong to
    the earlier task. Criteria and limits are those that hold in the run now.
    """
    dropped = _unavailable(home, state)
    kept = tuple(name for name in state.contract.capabilities if name not in dropped)
    inputs = tuple(f"{item.name} ({item.role})" for item in state.contract.inputs)
    lines = [
        f"# Copied from run {state.run_id}. Name the inputs, then `harness check` this file.",
        "# Not copied, so that nothing of the earlier task is carried over unseen: holdout, steps,",
        f"# permissions, deliverables, seed. The earlier holdout was: {_holdout(state)}.",
        f"schema: {SCHEMA}",
        *_head(state),
        f"inputs: []    # the earlier run had: {', '.join(inputs) or 'none'}",
        *_capabilities(kept, dropped),
        *_rules(state, kept),
    ]
    return Copied("\n".join(lines) + "\n", kept, dropped, inputs)


def _unavailable(home: Home, state: RunState) -> dict[str, str]:
    plugins, reasons = Plugins(home), {}
    for name in state.contract.capabilities:
        try:
            plugins.lease(name)
        except HarnessError as fault:
            reasons[name] = fault.message
    return reasons


def _head(state: RunState) -> Iterator[str]:
    contract = state.contract
    yield f"title: {_flow(contract.title)}"
    yield f"goal: {_flow(contract.goal)}"
    yield f"questions: {_flow(list(contract.questions))}"


def _holdout(state: RunState) -> str:
    """Return the split rule of the earlier run on one line."""
    told = {name: value for name, value in to_plain(state.contract.holdout).items() if value}
    return _line(", ".join(f"{name} {value}" for name, value in told.items()))


def _capabilities(kept: tuple[str, ...], dropped: dict[str, str]) -> Iterator[str]:
    yield "capabilities:" if kept else "capabilities: []"
    yield from (f"  - {name}" for name in kept)
    # A reason may hold a plugin's words: on one line they cannot leave the comment.
    yield from (f"  # not available: {name}: {_line(why)}" for name, why in dropped.items())


def _rules(state: RunState, kept: tuple[str, ...]) -> Iterator[str]:
    contract = state.contract
    rules = {
        name: [{"when": dict(rule.when), "require": dict(rule.require)} for rule in listed]
        for name, listed in contract.constraints.items()
        if name in kept
    }
    yield f"constraints: {_flow(rules)}"
    yield "acceptance:"
    for item in state.criteria:
        criterion = {"metric": item.metric, "op": item.op, "value": item.value}
        yield f"  - {_flow({**criterion, 'trusted': item.trusted})}"
    workflow = {
        "hypothesis_verification": contract.workflow.hypothesis_verification,
        "required_artifacts": list(contract.workflow.required_artifacts),
        "final_predictor": contract.workflow.final_predictor,
    }
    yield f"workflow: {_flow(workflow)}"
    yield f"budget: {_flow(_limits(state)) if state.budget.limits else 'unlimited'}"


def _limits(state: RunState) -> dict[str, Any]:  # Any: JSON values
    limits: dict[str, Any] = {}
    for key, limit in state.budget.limits.items():
        if key == "wall_time":
            limits[key] = show_duration(limit)
        else:
            limits[key] = int(limit) if key in COUNTED_BUDGET_KEYS else limit
    return limits


def _flow(value: object) -> str:
    """Return a value as YAML that is JSON too, on one line."""
    return json.dumps(value, ensure_ascii=False)


def _line(text: str) -> str:
    return "".join(mark for mark in " ".join(text.split()) if mark.isprintable())
