"""Consultations: what a role is asked and what it answers, as JSON on both sides of the pipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import attrs

from sciharness.errors import RequestError
from sciharness.plugin import Context
from sciharness.requests.build import build_request
from sciharness.roles import (
    Executor,
    Finish,
    Launch,
    Package,
    Program,
    Proposal,
    Reasoner,
    ReasonerView,
    Review,
    Reviewer,
)
from sciharness.workers.failures import ActionFailed
from sciharness.workers.wire import Message, encode

Answer = TypeVar("Answer", Finish, Launch, Proposal, Review)
Subject = ReasonerView | Program | Package
Consulted = Reasoner | Executor | Reviewer

MAX_ANSWER = 1024**2

_SUBJECTS: Mapping[type, type] = MappingProxyType({Reasoner: ReasonerView, Executor: Program})
_ANSWERS: Mapping[type, tuple[type[Finish | Launch | Proposal | Review], ...]] = MappingProxyType(
    {Reasoner: (Proposal, Finish), Executor: (Launch,), Reviewer: (Review,)}
)


def subject_to_plain(subject: Subject) -> Message:
    """Return what a role is asked about as JSON values."""
    plain = attrs.asdict(subject)
    if isinstance(subject, Package):
        plain["folder"] = str(subject.folder)
    return plain


def consult(offer: Consulted, request: object, asked: Message, context: Context) -> Message:
    """Call the function of a role and return its answer as JSON values.

    Raises:
        ActionFailed: it answered with something else than the records of its hook.
    """
    if isinstance(offer, Reviewer):
        package = Package(**{**asked, "folder": Path(asked["folder"])})
        answer: Any = offer.run(package, context)  # Any: whatever a plugin gave
    else:
        run: Callable[..., Any] = offer.run
        answer = run(request, _SUBJECTS[type(offer)](**asked), context)
    expected = _ANSWERS[type(offer)]
    if not isinstance(answer, expected):
        names = " or ".join(kind.__name__ for kind in expected)
        raise _nonsense(f"a {type(offer).__name__.lower()} returns {names}, got {answer!r:.200}")
    plain = {type(answer).__name__.lower(): attrs.asdict(answer)}
    try:
        size = len(encode(plain))
    except (TypeError, ValueError) as error:
        raise _nonsense(f"its answer has no JSON form: {error}") from error
    if size > MAX_ANSWER:
        raise _nonsense(f"an answer of {size} bytes, at most {MAX_ANSWER} are taken")
    return plain


def proposal_of(answer: Mapping[str, Any]) -> Proposal | Finish:  # Any: JSON values
    """Return what a reasoner proposed, every field checked.

    Raises:
        ActionFailed: reason ``nonsense``.
    """
    if set(answer) == {"finish"}:
        return _checked(Finish, answer["finish"])
    return _checked(Proposal, _only(answer, "proposal"))


def launch_of(answer: Mapping[str, Any]) -> Launch:  # Any: JSON values
    """Return how an executor starts a program, every field checked.

    Raises:
        ActionFailed: reason ``nonsense``.
    """
    return _checked(Launch, _only(answer, "launch"))


def review_of(answer: Mapping[str, Any]) -> Review:  # Any: JSON values
    """Return what a reviewer says, every field checked.

    Raises:
        ActionFailed: reason ``nonsense``.
    """
    return _checked(Review, _only(answer, "review"))


def _only(answer: Mapping[str, Any], name: str) -> Any:  # Any: JSON values
    if set(answer) != {name}:
        raise _nonsense(f"expected a {name}, got {', '.join(map(str, answer)) or 'nothing'}")
    return answer[name]


def _checked(kind: type[Answer], values: Any) -> Answer:  # Any: JSON values
    if not isinstance(values, dict):
        raise _nonsense(f"expected a {kind.__name__.lower()}, got {values!r:.200}")
    try:
        return build_request(kind, values)
    except RequestError as error:
        raise _nonsense(f"{kind.__name__.lower()}: {error.message}") from error


def _nonsense(message: str) -> ActionFailed:
    return ActionFailed(message, reason="nonsense")
