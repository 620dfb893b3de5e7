"""From the cleaned values of a document to the records of a contract."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from sciharness.contract.artifact_types import TABLE_EXTENSIONS, canonical_type
from sciharness.contract.durations import parse_duration
from sciharness.contract.fields import DELIVERABLES
from sciharness.contract.records import (
    Choice,
    ConstraintRule,
    Contract,
    ContractInput,
    Criterion,
    Holdout,
    Permissions,
    Publication,
    Step,
    Workflow,
)
from sciharness.contract.scalars import BROKEN

Values = Mapping[str, Any]  # Any: JSON values that the shapes have checked

CONTEXT_DATA = "context_data"


def build_contract(values: Values) -> Contract:
    """Return the contract of ``values``; what is missing or broken takes its default.

    A contract made from broken values serves only to look for more problems.
    """
    steps = values.get("steps")
    return Contract(
        title=values.get("title", ""),
        goal=values.get("goal", ""),
        capabilities=_sound(values.get("capabilities")),
        acceptance=tuple(_criterion(item) for item in _sound(values.get("acceptance"))),
        questions=_sound(values.get("questions")),
        inputs=tuple(build_input(item) for item in _sound(values.get("inputs"))),
        constraints={
            name: tuple(ConstraintRule(rule["when"], rule["require"]) for rule in _sound(rules))
            for name, rules in values.get("constraints", {}).items()
        },
        workflow=_workflow(values.get("workflow", {})),
        permissions=Permissions(**values.get("permissions", {})),
        budget=_budget(values.get("budget")),
        holdout=_holdout(values.get("holdout", {})),
        executor=_choice(values.get("executor", "local")),
        reasoner=_choice(values.get("reasoner", "recipe")),
        steps=None if steps is None else tuple(_step(item) for item in _sound(steps)),
        deliver=_sound(values.get("deliver")),
        publish=_publish(values),
        seed=values.get("seed", 0),
    )


def build_input(values: Values) -> ContractInput:
    """Return one contract input, defaults filled in."""
    features = values.get("features")
    return ContractInput(
        name=values["name"],
        path=values["path"],
        role=role_of(values),
        task=values.get("task", "regression"),
        target=values.get("target"),
        features=None if features is None else _sound(features),
        ignore=_sound(values.get("ignore")),
        weights=values.get("weights"),
        sigma=values.get("sigma"),
        units=values.get("units", {}),
        missing=values.get("missing", "refuse"),
        solver=values.get("solver"),
        directory=values.get("role") == CONTEXT_DATA,
    )


def role_of(values: Values) -> str:
    """Return the role of an input; a context.data directory with a target is a labelled table."""
    role = values.get("role") or default_role(values["path"])
    return "labelled_table" if role == CONTEXT_DATA and "target" in values else str(role)


def default_role(path: str) -> str:
    """Return the role of an input that names none: a table is sealed rather than shown."""
    return "labelled_table" if PurePath(path).suffix.lower() in TABLE_EXTENSIONS else "other"


def _sound(items: Any) -> tuple[Any, ...]:  # Any: cleaned JSON values
    return tuple(item for item in items or () if item is not BROKEN)


def _criterion(values: Values) -> Criterion:
    trusted = values.get("trusted", False)
    return Criterion(values["metric"], values["op"], float(values["value"]), trusted)


def _step(values: Values) -> Step:
    return Step(values["id"], values["use"], values.get("inputs", {}), values.get("with", {}))


def _workflow(values: Values) -> Workflow:
    kinds = tuple(canonical_type(kind) for kind in _sound(values.get("required_artifacts")))
    return Workflow(
        values.get("hypothesis_verification", False), kinds, values.get("final_predictor", False)
    )


def _budget(values: Any) -> dict[str, float]:  # Any: a mapping, text or nothing
    if not isinstance(values, dict):
        return {}
    return {
        key: parse_duration(limit) if key == "wall_time" else limit
        for key, limit in values.items()
        if limit is not None
    }


def _holdout(values: Any) -> Holdout:  # Any: a mapping or the word none
    if values == "none":
        return Holdout(mode="none")
    modes = {"group": "group", "order": "order", "generated_by": "generated"}
    mode = next((modes[key] for key in modes if key in values), "fraction")
    known = {key: value for key, value in values.items() if key != "order"}
    return Holdout(mode=mode, **known)


def _choice(values: Any) -> Choice:  # Any: a mapping or a name
    if isinstance(values, str):
        return Choice(values)
    return Choice(values["use"], {key: value for key, value in values.items() if key != "use"})


def _publish(values: Values) -> dict[str, Publication]:
    given = values.get("publish", {})
    if "id" not in given:
        return {name: Publication(**item) for name, item in given.items()}
    wanted = _sound(values.get("deliver")) or DELIVERABLES[:1]
    return {name: Publication(**given) for name in wanted}
