"""The run record as a report reads it: whatever is absent or odd leaves a gap, never an error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from sciharness_reporting.text import clean, label, real

Json = Any  # Any: JSON values of any shape, checked where they are read


@frozen
class Criterion:
    """One acceptance criterion with its verdict."""

    metric: str
    op: str
    threshold: float | None
    value: float | None
    trusted: bool
    met: bool
    reason: str


@frozen
class Metric:
    """One value with its source: trusted, reported or runtime."""

    name: str
    value: float
    source: str
    capability: str


@frozen
class Action:
    """One action of the run."""

    step: str
    capability: str
    status: str
    seconds: float
    message: str
    notes: tuple[str, ...]


@frozen
class Query:
    """One look at sealed labels."""

    input: str
    target: str
    look: int
    predictor_digest: str
    replayed: bool
    spent: bool
    run_ids: tuple[str, ...]


@frozen
class Sealed:
    """How the rows of one input were set apart."""

    input: str
    target: str
    reason: str
    rows_train: int
    rows_verification: int
    rows_final: int
    split: str


@frozen
class Run:
    """What a report knows of its run; ``plain`` is the record as it was given."""

    plain: Mapping[str, Json]
    title: str
    goal: str
    questions: tuple[str, ...]
    run_id: str
    status: str
    failure: str
    criteria: tuple[Criterion, ...]
    metrics: tuple[Metric, ...]
    actions: tuple[Action, ...]
    queries: tuple[Query, ...]
    sealed: tuple[Sealed, ...]
    isolation: str
    seed: int | None

    def value(self, name: str) -> Json:
        """Return a field of the record, or ``None``."""
        return self.plain.get(name)


def mapping(value: Json) -> Mapping[str, Json]:
    """Return a JSON object, or an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def objects(value: Json) -> Iterator[Mapping[str, Json]]:
    """Yield the JSON objects of a list, nothing for anything else."""
    known = value if isinstance(value, list) else ()
    return (one for one in known if isinstance(one, Mapping))


def texts(value: Json) -> tuple[str, ...]:
    """Return the texts of a list, or the one text itself."""
    if isinstance(value, str):
        return (clean(value),) if value else ()
    return tuple(clean(one) for one in value if clean(one)) if isinstance(value, list) else ()


def whole(value: Json) -> int:
    """Return a count, 0 for anything else."""
    number = real(value)
    return int(number) if number is not None and number.is_integer() else 0


def read_json(path: Path) -> Json:
    """Return the value of a JSON file, ``None`` if it holds none."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def read_run(path: Path) -> Run:
    """Return the run record in a JSON file."""
    plain = mapping(read_json(path))
    contract = mapping(plain.get("contract"))
    return Run(
        plain=plain,
        title=label(plain.get("title") or contract.get("title") or "Untitled run", 200),
        goal=clean(plain.get("goal") or contract.get("goal")).strip(),
        questions=texts(plain.get("questions")),
        run_id=label(plain.get("run_id")),
        status=label(plain.get("status")),
        failure=_failure(plain),
        criteria=tuple(map(_criterion, objects(plain.get("criteria")))),
        metrics=tuple(_metrics(plain)),
        actions=tuple(map(_action, objects(plain.get("actions") or plain.get("steps")))),
        queries=tuple(map(_query, objects(plain.get("holdout_queries")))),
        sealed=tuple(_sealed(plain)),
        isolation=label(plain.get("label_isolation")),
        seed=whole(plain["seed"]) if isinstance(plain.get("seed"), int) else None,
    )


def _failure(plain: Mapping[str, Json]) -> str:
    error = plain.get("error")
    told = error.get("message") if isinstance(error, Mapping) else error
    return clean(plain.get("failure") or plain.get("reason") or told).strip()


def _criterion(one: Mapping[str, Json]) -> Criterion:
    return Criterion(
        metric=label(one.get("metric")),
        op=label(one.get("op")),
        threshold=real(one.get("threshold")),
        value=real(one.get("value")),
        trusted=one.get("trusted") is True,
        met=one.get("met") is True,
        reason=label(one.get("reason"), 400),
    )


def _metrics(plain: Mapping[str, Json]) -> Iterator[Metric]:
    for one in objects(plain.get("metrics")):
        value = real(one.get("value"))
        if value is not None:
            name, source = label(one.get("name")), label(one.get("source"))
            yield Metric(name, value, source, label(one.get("capability")))


def _action(one: Mapping[str, Json]) -> Action:
    return Action(
        step=label(one.get("step") or one.get("id")),
        capability=label(one.get("capability") or one.get("use")),
        status=label(one.get("status")),
        seconds=real(one.get("seconds")) or 0.0,
        message=label(one.get("message") or one.get("reason"), 400),
        notes=tuple(label(note, 600) for note in texts(one.get("notes"))),
    )


def _query(one: Mapping[str, Json]) -> Query:
    return Query(
        input=label(one.get("input")),
        target=label(one.get("target")),
        look=whole(one.get("look")),
        predictor_digest=label(one.get("predictor_digest"), 80),
        replayed=one.get("replayed") is True,
        spent=one.get("spent") is True,
        run_ids=tuple(label(name) for name in texts(one.get("run_ids"))),
    )


def _sealed(plain: Mapping[str, Json]) -> Iterator[Sealed]:
    for name, one in mapping(plain.get("sealed_holdout_targets")).items():
        known = mapping(one)
        yield Sealed(
            input=label(name),
            target=label(known.get("target")),
            reason=label(known.get("reason"), 200),
            rows_train=whole(known.get("rows_train")),
            rows_verification=whole(known.get("rows_verification")),
            rows_final=whole(known.get("rows_final")),
            split=label(known.get("split"), 200),
        )
