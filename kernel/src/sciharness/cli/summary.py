"""A run in words: what `run` and `show` print for a person."""

from __future__ import annotations

import json
import re
from typing import Any

from sciharness.runtime.budget import show_amount
from sciharness.runtime.state import RunState
from sciharness.store.artifacts import ArtifactStore

View = dict[str, Any]  # Any: JSON values

# A number with more than five digits, not part of a name.
_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{5,}(?:e[+-]?\d+)?(?!\w)")

EXIT_BY_STATUS = {
    "succeeded": 0,
    "failed": 1,
    "paused": 4,
    "waiting_for_input": 4,
    "budget_exhausted": 5,
    "interrupted": 130,
    "cancelled": 130,
}


def exit_code(view: View) -> int:
    """Return the exit code that a run's view stands for."""
    error = view.get("error") or {}
    if error.get("kind") == "integrity":
        return 7
    if view["status"] == "interrupted" and error:
        return 1
    if view["status"] == "succeeded" and view["delivery"] == "failed":
        return 6
    return EXIT_BY_STATUS.get(view["status"], 0)


def describe(view: View, formulas: View | None = None) -> str:
    """Return a run in lines: status, formula, criteria, budget in use, export."""
    lines = [f"{view['title']}  ({view['run_id']})", f"status: {_status(view)}"]
    if view.get("conditions"):
        lines.append(f"conditions: {view['conditions']}")
    if view.get("reason"):
        lines.append(f"reason: {view['reason']}")
    lines += _formula_lines(formulas)
    lines += [criterion_line(item) for item in view["criteria"]]
    lines += [_sealed(name, item) for name, item in view["sealed_holdout_targets"].items()]
    lines += [_look(item) for item in view["holdout_queries"]]
    used = [
        f"{key} {show_amount(key, item['used'])} of {show_amount(key, item['limit'])}"
        for key, item in view["budget"].items()
        if item["limit"] is not None
    ]
    if used:
        lines.append("budget used: " + ", ".join(used))
    lines += [_package(item) for item in view.get("packages", [])]
    if view.get("export"):
        lines.append(f"export: {view['export']}")
    return "\n".join(lines)


def _package(item: View) -> str:
    performed = str(item["review"]["independent_binary_review_performed"]).lower()
    return (
        f"published: {item['plugin_id']} {item['version']},"
        f" independent_binary_review_performed: {performed} ({item['review']['policy']})"
    )


def _status(view: View) -> str:
    delivery = view["delivery"]
    return (
        view["status"]
        if delivery in {"none", "succeeded"}
        else f"{view['status']}, delivery {delivery}"
    )


def _formula_lines(formulas: View | None) -> list[str]:
    if not formulas or not formulas.get("candidates"):
        return []
    chosen = formulas["candidates"][formulas["chosen"]]
    lines = [f"formula: {formulas['target']} = {_rounded(chosen['formula'])}"]
    lines += [f"  {name} = {meaning}" for name, meaning in formulas.get("symbols", {}).items()]
    domain = chosen.get("domain") or {}
    lines += [f"  valid for {low:g} <= {name} <= {high:g}" for name, (low, high) in domain.items()]
    return lines


def _rounded(formula: str) -> str:
    """Return a formula with its constants to five digits; formulas.json has all of them."""
    return _NUMBER.sub(lambda found: f"{float(found.group()):.5g}", formula)


def criterion_line(item: View) -> str:
    """Return one verdict as a line for a person."""
    value = "no value" if item["value"] is None else f"{item['value']:.6g}"
    trust = "trusted" if item["trusted"] else "any source"
    verdict = "met" if item["met"] else f"NOT met: {item['reason']}"
    wanted = f"{item['metric']} {item['op']} {item['threshold']:g} ({trust})"
    return f"criterion: {wanted}: {value}, {verdict}"


def _sealed(name: str, item: View) -> str:
    return (
        f"sealed: {item['target']} of {name}, {item['rows_final']} final rows"
        f" beside {item['rows_train']} visible ones ({item['split']})"
    )


def _look(item: View) -> str:
    how = ", beyond max_queries" if item["spent"] else ""
    how += ", replayed" if item["replayed"] else ""
    predictor = item["predictor_digest"][:12]
    return (
        f"look {item['look']} at the final labels of {item['input']} by predictor {predictor}{how}"
    )


def advice(state: RunState, view: View, command: str) -> list[str]:
    """Return what to say after an unmet run: the gap, what limited it, how to go on."""
    lines = []
    for item in view["criteria"]:
        if item["met"] or item["value"] is None:
            continue
        gap = abs(item["value"] - item["threshold"])
        lines.append(
            f"best {item['metric']}: {item['value']:.6g}, {gap:.3g} away from {item['threshold']:g}"
        )
    limits = [
        f"{key} used {show_amount(key, entry['used'])} of {show_amount(key, entry['limit'])}"
        for key, entry in view["budget"].items()
        if entry["limit"] is not None and entry["used"] >= entry["limit"]
    ]
    reasons = [item.message for item in state.setbacks]
    lines.append("limited by: " + ("; ".join([*limits, *reasons]) or "the steps of the contract"))
    lines.append(f"to go on: change the contract, then {command}")
    return lines


def formulas_of(state: RunState, store: ArtifactStore) -> View | None:
    """Return formulas.json of the newest step that wrote one, or ``None``."""
    found = [item for item in state.artifacts if item.name == "formulas.json"]
    if not found:
        return None
    value = json.loads(store.path(found[-1].sha256).read_text("utf-8"))
    return value if isinstance(value, dict) else None
