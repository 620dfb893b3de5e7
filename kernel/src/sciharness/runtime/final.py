"""The final evaluation: freeze a predictor, predict, judge once by sealed labels."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from sciharness.errors import DataError, IntegrityError
from sciharness.failpoints import reach
from sciharness.requests import COMMON
from sciharness.runtime.inputs import predictor_artifacts
from sciharness.runtime.judging import FrozenPredictor, judge_frozen, undefined_metrics
from sciharness.runtime.records import FINAL, ActionRecord, ArtifactRef, Look, StagedInput, to_plain
from sciharness.runtime.session import NewEvent, Session
from sciharness.runtime.settlement import finished, ingest
from sciharness.store.artifacts import artifact_id
from sciharness.store.ledger import Ledger, LedgerKey, predictor_digest
from sciharness.store.ledger import Look as LedgerLook
from sciharness.workers.pool import JobResult
from sciharness_catalog.canonical import canonical_json


def freeze(session: Session, step: str, producer: str, staged: StagedInput) -> FrozenPredictor:
    """Return the predictor of ``producer`` bound to the final inputs of ``staged``."""
    artifacts = predictor_artifacts(step, session.state.artifacts_of(producer))
    inputs = staged.views[FINAL]
    return FrozenPredictor(producer, tuple(artifacts), inputs, digest_of(artifacts, inputs.sha256))


def digest_of(artifacts: list[ArtifactRef], final_inputs: str) -> str:
    """Return the digest that makes two predictors the same for the ledger."""
    by_type = {item.type: item.sha256 for item in artifacts}
    return predictor_digest(by_type["model"], by_type["inference.source.python"], {}, final_inputs)


def evaluate_final(
    session: Session, record: ActionRecord, predictor: FrozenPredictor, staged: StagedInput
) -> None:
    """Judge a frozen predictor by the sealed labels of ``staged``, at most once.

    An identical predictor replays the stored result. The look is recorded
    before the labels are read, so a killed run cannot look twice; its result
    and the settled action are one durable step.

    Raises:
        IntegrityError: another predictor has used up the looks at these labels.
    """
    assert staged.sealed is not None
    session.record(("PredictorFrozen", _frozen_body(record, predictor)))
    reach("predictor.frozen")
    ledger = Ledger(session.home)
    key = ledger_key(staged)
    evaluation = _evaluation_digest(record)
    known = ledger.replay(key, predictor.digest, evaluation)
    if known is not None:
        look, stored = known
        events = _replayed(session, record, staged, look, stored)
        session.record(*session.judged(events))
        return
    look = ledger.spend(
        key,
        predictor.digest,
        run_id=session.state.run_id,
        split=staged.sealed.split,
        max_queries=session.state.contract.holdout.max_queries,
        override=session.spend_holdout,
    )
    reach("look.spent")
    _first_time(session, record, predictor, staged, look)


def _first_time(
    session: Session,
    record: ActionRecord,
    predictor: FrozenPredictor,
    staged: StagedInput,
    look: LedgerLook,
) -> None:
    last = look.look >= session.state.contract.holdout.max_queries
    result, usage = judge_frozen(session, record, predictor, staged, last=last)
    references, undefined = ingest(session, record, result), undefined_metrics(result)
    lease = session.leases[record.capability]
    event = finished(
        record, result, usage, references, trusted=lease.trusted_metrics, undefined=undefined
    )
    stored = {
        "metrics": dict(result.metrics),
        "undefined": undefined,
        "notes": list(result.notes),
        "artifacts": to_plain(references),
    }
    events = session.judged([_queried(staged, look, replayed=False), event])
    with session.home.writing() as tx:
        Ledger(session.home).settle(look, stored, _evaluation_digest(record), tx=tx)
        session.record(*events, tx=tx)
    reach("look.judged")


def ledger_key(staged: StagedInput) -> LedgerKey:
    """Return the key under which looks at the labels of an input are counted."""
    assert staged.sealed is not None
    return LedgerKey(staged.meta.get("ledger_subject", staged.sha256), staged.sealed.target)


def _evaluation_digest(record: ActionRecord) -> str:
    request = {key: value for key, value in record.request.items() if key not in COMMON}
    facts: dict[str, Any] = {"pin": record.pin, "request": request}  # Any: JSON values
    return hashlib.sha256(canonical_json(facts)).hexdigest()


def _frozen_body(record: ActionRecord, predictor: FrozenPredictor) -> dict[str, Any]:
    return {
        "index": record.index,
        "step": predictor.step,
        "digest": predictor.digest,
        "predictor": [item.id for item in predictor.artifacts],
        "final_inputs": predictor.final_inputs.id,
    }


def _queried(staged: StagedInput, look: LedgerLook, *, replayed: bool) -> NewEvent:
    entry = Look(
        input=staged.name,
        target=look.target,
        look=look.look,
        predictor_digest=look.predictor,
        replayed=replayed,
        run_ids=(look.run_id,),
        spent=look.overridden,
    )
    return ("HoldoutQueried", {"look": to_plain(entry)})


def _replayed(
    session: Session,
    record: ActionRecord,
    staged: StagedInput,
    look: LedgerLook,
    stored: Mapping[str, Any],
) -> list[NewEvent]:  # Any: the JSON value that was settled
    references = [_reference(session, record, item) for item in stored["artifacts"]]
    note = (
        f"replayed: look {look.look} at these labels was by the same predictor (run {look.run_id})"
    )
    result = JobResult(
        metrics=stored["metrics"],
        artifacts=(),
        notes=(*stored["notes"], note),
        usage={},
        seconds=0.0,
        cpu_seconds=0.0,
    )
    lease = session.leases[record.capability]
    event = finished(
        record,
        result,
        {"actions": 1.0},
        references,
        trusted=lease.trusted_metrics,
        undefined=stored["undefined"],
    )
    return [_queried(staged, look, replayed=True), event]


def _reference(session: Session, record: ActionRecord, stored: Mapping[str, Any]) -> ArtifactRef:
    digest = stored["sha256"]
    try:
        session.store.path(digest, verified=True)
    except (IntegrityError, DataError) as fault:
        raise IntegrityError(
            f"the stored evaluation {digest[:12]} is missing or damaged",
            where=f"steps.{record.step}",
            hint="Run `harness doctor` to see the state of the home.",
        ) from fault
    return ArtifactRef(
        id=artifact_id(stored["type"], stored["name"], digest, record.index),
        name=stored["name"],
        type=stored["type"],
        sha256=digest,
        size=stored["size"],
        action=record.index,
        step=record.step,
    )
