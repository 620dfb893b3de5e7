"""Roles beside capabilities: who proposes, launches, reviews and publishes, and what reaches them.

Each role is a record that a plugin registers, like a
:class:`~sciharness.plugin.Capability`. Its function runs in a verified worker;
what goes in and what comes out crosses as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

if TYPE_CHECKING:
    from sciharness.plugin import Context, InputSpec, Outcome, OutputSpec

Json = Mapping[str, Any]  # Any: JSON values


def _listed(values: Iterable[Any]) -> tuple[Any, ...]:  # Any: items of any type
    return tuple(values)


@frozen
class NoOptions:
    """The options of a role that has none."""


@frozen
class ReasonerView:
    """What a reasoner sees of a run: facts and metrics, no path, no row and no label.

    ``inputs`` are mappings with name, role, type, table and rows; ``capabilities``
    with name, summary, group, inputs, outputs, metrics and ``request`` (a JSON
    Schema). ``criteria`` are the verdicts so far. ``actions`` are settled ones,
    oldest first, with id, use, inputs, with, status, metrics, artifacts, notes,
    reason and message; ``refusals`` are proposals that the gate turned down,
    with use, inputs, with, reason and message. ``budget_left`` maps each limited
    key to what is left of it.
    """

    goal: str
    questions: tuple[str, ...] = field(default=(), converter=_listed)
    inputs: tuple[Json, ...] = field(default=(), converter=_listed)
    capabilities: tuple[Json, ...] = field(default=(), converter=_listed)
    constraints: Json = field(factory=dict)
    workflow: Json = field(factory=dict)
    criteria: tuple[Json, ...] = field(default=(), converter=_listed)
    actions: tuple[Json, ...] = field(default=(), converter=_listed)
    refusals: tuple[Json, ...] = field(default=(), converter=_listed)
    budget_left: Mapping[str, float] = field(factory=dict)


@frozen
class Proposal:
    """One action that a reasoner proposes; it has no authority.

    ``use`` is a leased capability. ``inputs`` maps its input names to a
    contract input, an earlier action's ID or ``ID.ARTIFACT``, as in a step of a
    contract; ``params`` are its parameters. ``why`` is kept in the record.
    """

    use: str
    inputs: Mapping[str, str] = field(factory=dict)
    params: Json = field(factory=dict)
    why: str = ""


@frozen
class Finish:
    """The reasoner has nothing more to propose; report and verdict follow."""

    message: str = ""


@frozen
class Reasoner:
    """Proposes the actions of a run, one at a time.

    Chosen by ``reasoner: {use: PLUGIN_ID.OPERATION, ...options}``; the options
    are the fields of ``request``, an attrs class. ``network`` keeps sockets for
    its worker. ``charges`` names budget keys it may charge, such as
    ``reasoner_tokens``.
    """

    operation: str
    run: Callable[[Any, ReasonerView, Context], Proposal | Finish]  # Any: ``request``
    summary: str
    request: type = NoOptions
    network: bool = False
    charges: tuple[str, ...] = ()


@frozen
class Program:
    """A program that the kernel is about to start for an action.

    ``purpose`` says what for: ``inference``, or ``programs`` for all that an
    operation starts by itself, of which only the limits are known. ``argv`` is the command,
    ``environment`` its whole environment. ``wall_seconds`` and ``memory_bytes``
    are its limits (``None``: no limit), ``threads`` how many it should use.
    """

    purpose: str
    argv: tuple[str, ...] = field(converter=_listed)
    environment: Mapping[str, str] = field(factory=dict)
    wall_seconds: float | None = None
    memory_bytes: int | None = None
    threads: int = 1


@frozen
class Launch:
    """How a program is to be started.

    ``prefix`` goes in front of its command, such as ``("nice", "-n", "10")``.
    ``environment`` holds further variables. ``wall_seconds`` and
    ``memory_bytes`` may only tighten a limit; ``None`` leaves it.
    """

    prefix: tuple[str, ...] = field(default=(), converter=_listed)
    environment: Mapping[str, str] = field(factory=dict)
    wall_seconds: float | None = None
    memory_bytes: int | None = None


@frozen
class Executor:
    """Says how programs are started that the kernel runs for actions of a run.

    Chosen by ``executor: {use: PLUGIN_ID.OPERATION, ...options}``; the options
    are the fields of ``request``, an attrs class.
    """

    operation: str
    run: Callable[[Any, Program, Context], Launch]  # Any: ``request``
    summary: str
    request: type = NoOptions
    network: bool = False


@frozen
class Package:
    """A package that is about to be published, installed or exported.

    ``stage`` is ``publish``, ``install`` or ``export``. ``folder`` holds the
    ``files`` (relative paths), read-only. ``facts`` are JSON values that the
    kernel adds, for example the digest and what the attestation binds.
    """

    stage: str
    id: str
    version: str
    origin: str
    folder: Path
    files: tuple[str, ...] = field(default=(), converter=_listed)
    facts: Json = field(factory=dict)


@frozen
class Review:
    """What a reviewer says: whether the package may go on, and what it found.

    ``performed`` is false if nothing was looked into, for example because the
    reviewer knows no such files; then no independent review is claimed.
    """

    accepted: bool
    findings: tuple[str, ...] = field(default=(), converter=_listed)
    performed: bool = True


@frozen
class Reviewer:
    """Judges packages before they are published, installed or exported.

    Every admitted reviewer of an installation is asked; any refusal refuses.
    """

    operation: str
    run: Callable[[Package, Context], Review]
    summary: str
    network: bool = False


@frozen
class Publisher:
    """Makes a package from what an accepted run has made.

    ``delivers`` are the names under which a contract asks for it in
    ``deliver``. ``request`` is an attrs class with the fields ``id`` and
    ``version`` of the package; others need defaults. ``inputs`` are bound by
    the kernel by artifact type among frozen and accepted artifacts; the input
    ``run`` is the record of the run. The files it writes with
    ``context.output`` are the package.
    """

    operation: str
    run: Callable[[Any, Context], Outcome]  # Any: an instance of ``request``
    request: type
    summary: str
    delivers: tuple[str, ...]
    inputs: tuple[InputSpec, ...] = ()
    outputs: tuple[OutputSpec, ...] = ()


Role = Reasoner | Executor | Reviewer | Publisher
