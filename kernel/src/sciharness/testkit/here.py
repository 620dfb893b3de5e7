"""Running an operation in this process, with everything that the kernel would check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from sciharness.errors import PluginError
from sciharness.plugin import Context, Input, Outcome
from sciharness.requests import build_request, split_common
from sciharness.requests.schema import request_schema
from sciharness.roles import Finish, Launch, NoOptions, Proposal, Review
from sciharness.workers.consulting import (
    Consulted,
    Subject,
    consult,
    launch_of,
    proposal_of,
    review_of,
    subject_to_plain,
)
from sciharness.workers.descriptor import Offer, described, descriptor_from_plain
from sciharness.workers.failures import ActionFailed
from sciharness.workers.loaded import registered
from sciharness.workers.outcome import checked_metrics, checked_notes, collected

Json = Mapping[str, Any]  # Any: JSON values

_ANSWERS: tuple[tuple[str, Callable[[Json], Any]], ...] = (
    ("launch", launch_of),
    ("review", review_of),
)


@frozen
class Tried:
    """What an operation gave: checked metrics, artifacts as files, notes, and what it told."""

    metrics: Mapping[str, float]
    artifacts: Mapping[str, Path]
    notes: tuple[str, ...] = ()
    usage: Mapping[str, float] = field(factory=dict)
    events: tuple[Json, ...] = ()


def run_here(
    plugin: Any,  # Any: a module or object with hooks
    operation: str,
    request: Json,
    inputs: Mapping[str, Input],
    folder: Path,
    *,
    seed: int = 0,
    workers: int = 1,
    time_limit: float | None = None,
    cancelled: bool = False,
) -> Tried:
    """Run a capability, an evaluator or a publisher of a plugin in this process.

    ``folder`` becomes its workspace. For quick tests and a debugger: nothing is
    confined, and a crash is this process's; :class:`Bench` runs real workers.

    Raises:
        RequestError: the parameters do not fit.
        ActionFailed: what it gave is no outcome by the rules of the kernel.
    """
    offer = _offer(plugin, operation)
    if isinstance(offer, Consulted):
        raise PluginError(f"{operation} is asked, not run: use ask_here", where=operation)
    events: list[Json] = []
    common = {"seed": seed, "workers": workers, "time_limit": time_limit}
    context = Context(
        inputs=inputs,
        workspace=folder,
        seed=seed,
        workers=workers,
        time_limit=time_limit,
        emit=events.append,
        is_cancelled=lambda: cancelled,
    )
    outcome = offer.run(_built(offer, {**common, **request}), context)
    if not isinstance(outcome, Outcome):
        raise ActionFailed(f"expected an Outcome, got {outcome!r:.200}", reason="nonsense")
    produced = collected(folder / "outputs", context.outputs, _operation(offer))
    usage: dict[str, float] = {}
    for event in events:
        for key, amount in event.get("charge", {}).items():
            usage[key] = usage.get(key, 0.0) + amount
    return Tried(
        metrics=checked_metrics(outcome.metrics, getattr(offer, "metrics", ())),
        artifacts={one.name: one.path for one in produced},
        notes=checked_notes(outcome.notes),
        usage=usage,
        events=tuple(events),
    )


def ask_here(
    plugin: Any,  # Any: a module or object with hooks
    operation: str,
    options: Json,
    subject: Subject,
    folder: Path,
    *,
    seed: int = 0,
) -> Proposal | Finish | Launch | Review:
    """Ask a reasoner, an executor or a reviewer of a plugin in this process.

    Raises:
        RequestError: the options do not fit.
        ActionFailed: it answered with something else than the records of its hook.
    """
    offer = _offer(plugin, operation)
    if not isinstance(offer, Consulted):
        raise PluginError(f"{operation} is run, not asked: use run_here", where=operation)
    context = Context(inputs={}, workspace=folder, seed=seed)
    answer = consult(offer, _built(offer, options), subject_to_plain(subject), context)
    return answer_of(answer)


def answer_of(answer: Json) -> Proposal | Finish | Launch | Review:
    """Return the answer of a role as its record, every field checked.

    Raises:
        ActionFailed: reason ``nonsense``.
    """
    for name, read in _ANSWERS:
        if name in answer:
            found: Launch | Review = read(answer)
            return found
    return proposal_of(answer)


def _offer(plugin: Any, operation: str) -> Offer:  # Any: a module or object with hooks
    offers = registered(plugin, "under_test")
    if operation not in offers:
        raise PluginError(f"registers no {operation!r}, but {', '.join(offers) or 'nothing'}")
    return offers[operation]


def _built(offer: Offer, values: Json) -> object:
    kind = getattr(offer, "request", NoOptions)
    own, _ = split_common(request_schema(kind), values)
    return build_request(kind, own)


def _operation(offer: Offer) -> Any:  # Any: an Operation
    plain = {"plugin_id": "under_test", "version": "0", "distribution": "", "digest": ""}
    listed = {"hook_api": 1, "operations": [described("under_test", offer)]}
    return descriptor_from_plain({**plain, **listed}).operations[0]
