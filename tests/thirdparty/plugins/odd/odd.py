"""Roles that do odd things when they are asked to."""

from __future__ import annotations

import json
import os
import socket
import time
from typing import Any

from attrs import field, frozen

from sciharness import (
    Context,
    Executor,
    Finish,
    Launch,
    Program,
    Proposal,
    Reasoner,
    ReasonerView,
    hookimpl,
)


@frozen
class Script:
    """What to propose, one after the other; a word instead asks for something odd."""

    proposals: tuple[Any, ...] = ()
    say: str = field(default="done", metadata={"help": "last words"})


def scripted(request: Script, view: ReasonerView, context: Context) -> Any:
    """Answer with the next line of the script."""
    done = len(view.actions) + len(view.refusals)
    if done >= len(request.proposals):
        return Finish(request.say)
    line = request.proposals[done]
    if isinstance(line, str):
        return odd(line, view, context)
    return Proposal(line["use"], line.get("inputs", {}), line.get("with", {}), line.get("why", ""))


def odd(what: str, view: ReasonerView, context: Context) -> Any:
    """Do something that no reasoner should."""
    if what == "crash":
        os.abort()
    if what == "raise":
        raise RuntimeError("no answer from the model")
    if what == "nothing":
        return None
    if what == "nan":
        return Proposal("toy.nothing", params={"value": float("nan")})
    if what == "number":
        return Proposal(7)  # type: ignore[arg-type]
    if what == "large":
        return Finish("x" * 2_000_000)
    if what == "tell":
        return Finish(json.dumps(seen(view, context)))
    if what == "wait":  # the first time only: it leaves a mark for the attempt after
        if context.restored is None:
            (context.checkpoint() / "asked").write_text("once", "utf-8")
            time.sleep(60.0)
        return Proposal("toy.nothing")
    if what == "charge":
        context.charge(reasoner_tokens=40)
        return Proposal("toy.nothing")
    raise AssertionError(what)


def seen(view: ReasonerView, context: Context) -> dict[str, Any]:
    """Return everything the reasoner can see, and whether it can open a socket."""
    try:
        socket.socket().close()
        sockets = True
    except OSError:
        sockets = False
    views = {name: getattr(view, name) for name in ReasonerView.__slots__ if name[0] != "_"}
    return {"view": views, "inputs": sorted(context.inputs), "sockets": sockets}


@frozen
class Odd:
    """What the executor asks for."""

    prefix: tuple[str, ...] = ()
    environment: dict[str, str] = field(factory=dict)
    wall_seconds: float | None = None
    memory_bytes: int | None = None
    crash: bool = False


def loose(request: Odd, program: Program, context: Context) -> Launch:
    """Ask for whatever the contract says."""
    if request.crash:
        raise RuntimeError("no queue answers")
    return Launch(request.prefix, request.environment, request.wall_seconds, request.memory_bytes)


@hookimpl
def harness_reasoners() -> list[Reasoner]:
    """Register the reasoners, one of which keeps its sockets."""
    return [
        Reasoner("scripted", scripted, "Follows a script.", Script, charges=("reasoner_tokens",)),
        Reasoner("online", scripted, "Follows a script with sockets.", Script, network=True),
    ]


@hookimpl
def harness_executors() -> list[Executor]:
    """Register the executor."""
    return [Executor("loose", loose, "Asks for whatever it is told to.", Odd)]
