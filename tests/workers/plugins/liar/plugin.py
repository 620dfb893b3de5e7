"""Operations that lie, each in one way."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import field, frozen, validators

from sciharness import Capability, Context, Evaluator, Outcome, OutputSpec, hookimpl


@frozen
class How:
    """Which lie, and what it needs."""

    how: str = ""
    text: str = ""


def metric(request: How, context: Context) -> Outcome:
    """Report something that is no declared finite float."""
    bad: dict[str, Any] = {
        "nan": float("nan"),
        "infinite": float("inf"),
        "true": True,
        "text": "0.99",
        "none": None,
        "huge": 10**400,
    }
    if request.how == "undeclared":
        return Outcome({"other": 1.0})
    if request.how == "all":
        return Outcome({"value": 1.0, **bad})
    return Outcome({"value": bad[request.how]})


def artifact(request: How, context: Context) -> Outcome:
    """Write something that is no plain file, or nothing."""
    path = context.output("made.txt", "OTHER")
    if request.how == "link":
        path.symlink_to(request.text)
    elif request.how == "hard link":
        other = context.workspace / "other"
        other.write_text("bytes", "utf-8")
        path.hardlink_to(other)
    elif request.how == "folder":
        path.mkdir()
    elif request.how == "fifo":
        os.mkfifo(path)
    elif request.how == "folder of outputs is a link":
        path.parent.rmdir()
        path.parent.symlink_to(request.text)
    elif request.how == "its folder is a link":
        os.rename(context.workspace, context.workspace.with_name("moved"))
        context.workspace.symlink_to(request.text)
    elif request.how == "swapped after the check":
        path.write_text("honest", "utf-8")
        threading.Thread(target=swap, args=(path, request.text), daemon=True).start()
    return Outcome()


def swap(path: Path, target: str) -> None:
    """Put a link where the file was, again and again."""
    while True:
        try:
            path.unlink(missing_ok=True)
            path.symlink_to(target)
        except OSError:
            time.sleep(0.0001)


def wrong_type(request: How, context: Context) -> Outcome:
    """Write an artifact under another type than the declared one."""
    context.output("model.json", "predictor.evaluation").write_text("{}", "utf-8")
    return Outcome()


def answer(request: How, context: Context) -> Outcome:
    """Give back something that is no outcome."""
    answers: dict[str, Any] = {
        "none": None,
        "dictionary": {"value": 1.0},
        "notes": Outcome(notes=(1, 2)),  # type: ignore[arg-type]
        "unsafe": Outcome(notes=("red \x1b[31m", "half \ud800", "turned \u202e")),
        "metrics": Outcome(metrics=[1.0]),  # type: ignore[arg-type]
    }
    found: Outcome = answers[request.how]
    return found


def done(metrics: str, outputs: str = "{}") -> bytes:
    """Return an answer; its number is that of the first request to a worker."""
    return (
        f'{{"id": 1, "done": {{"metrics": {metrics}, "notes": [], "outputs": {outputs}}}}}'.encode()
    )


SAID: dict[str, bytes] = {
    "no JSON": b"\x00\xffnonsense",
    "NaN": done('{"value": NaN}'),
    "too large": done('{"value": 1e999}'),
    "text metric": done('{"value": "0.99"}'),
    "true metric": done('{"value": true}'),
    "undeclared": done('{"other": 1}'),
    "outside": done("{}", '{"../../escaped": "OTHER"}'),
    "another answer": done("{}").replace(b"1", b"7"),
    "event": b'{"event": {"progress": "soon"}}',
    "deep": b'{"id": 1, "done":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


def protocol(request: How, context: Context) -> Outcome:
    """Write to the kernel's pipe ourselves."""
    if request.how == "1 GB line":
        for _ in range(1024):
            tell(b"x" * (1 << 20))
    while request.how == "endless events":
        tell(b'{"event": {"log": {"level": "info", "message": "' + b"x" * 1000 + b'"}}}\n')
    tell(SAID[request.how] + b"\n")
    return Outcome({"value": 1.0})


def tell(data: bytes) -> None:
    """Write bytes to the kernel's pipe, the first writable descriptor beyond the usual ones."""
    for descriptor in range(3, 20):
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            return
        except OSError:
            continue


def charge(request: How, context: Context) -> Outcome:
    """Charge what cannot be charged."""
    amounts: dict[str, Any] = {
        "unknown": {"holidays": 1},
        "negative": {"solver_calls": -1},
        "nan": {"solver_calls": float("nan")},
    }
    context.charge(**amounts[request.how])
    return Outcome()


def end(request: How, context: Context) -> Outcome:
    """End badly."""
    endings: dict[str, Callable[[How, Context], object]] = {
        "segfault": lambda request, context: os.kill(os.getpid(), signal.SIGSEGV),
        "kill": lambda request, context: os.kill(os.getpid(), signal.SIGKILL),
        "abort": lambda request, context: abort(),
        "exit": lambda request, context: os._exit(3),
        "SystemExit": lambda request, context: sys.exit(4),
        "error": lambda request, context: diverge(),
        "memory": lambda request, context: bytearray(64 << 30),
        "big file": lambda request, context: (context.workspace / "big").write_bytes(
            bytes(1 << 26)
        ),
        "endless output": lambda request, context: print_for_ever(),
        "sleep": lambda request, context: sleep(),
        "busy": lambda request, context: compute(context),
        "grandchild": lambda request, context: leave_grandchild(Path(request.text)),
    }
    if request.how:
        endings[request.how](request, context)
    return Outcome()


def abort() -> None:
    """End as a C++ program that got no memory."""
    os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
    os.abort()


def diverge() -> None:
    """Raise an ordinary error."""
    raise RuntimeError("the solver diverged")


def print_for_ever() -> None:
    """Fill the log."""
    while True:
        print("x" * 1000)


def sleep() -> None:
    """Sleep and do not listen."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)


def compute(context: Context) -> None:
    """Charge something, then never come back from one call into C."""
    context.charge(solver_calls=5)
    time.sleep(0.1)
    context.progress(0.1)
    sum(iter(int, 1))


def leave_grandchild(canary: Path) -> None:
    """Start a process in a session of its own that writes a canary later."""
    code = f"import time; time.sleep(1.5); open({str(canary)!r}, 'w').close(); time.sleep(60)"
    subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    time.sleep(60)


def hunt(request: How, context: Context) -> Outcome:
    """Look for the secret in every way we know, and note where it was found."""
    from harness_liar import hunting  # type: ignore[import-not-found]  # once installed

    return Outcome(notes=tuple(hunting.hunt(json.loads(request.text), context.workspace)))


def judge(request: How, context: Context) -> Outcome:
    """Hunt as an evaluator."""
    return hunt(request, context)


@frozen
class Own:
    """A request with a validator of its own."""

    count: int = field(default=1, validator=validators.ge(1))

    @count.validator
    def _even(self, attribute: Any, value: int) -> None:
        if value % 2 == 0:
            raise ValueError("count has to be odd")


def own(request: Own, context: Context) -> Outcome:
    """Do nothing."""
    return Outcome()


@hookimpl
def harness_capabilities() -> list[Capability]:
    """Register the lies."""
    group = "analysis"
    model = (OutputSpec("model.json", "model"),)
    value = ("value",)
    return [
        Capability("metric", metric, How, "lies", group, metrics=value),
        Capability("artifact", artifact, How, "lies", group),
        Capability("wrong_type", wrong_type, How, "lies", group, outputs=model),
        Capability("declared_only", end, How, "lies", group, outputs=model),
        Capability("answer", answer, How, "lies", group),
        Capability("protocol", protocol, How, "lies", group, metrics=value),
        Capability("charge", charge, How, "lies", group),
        Capability("end", end, How, "lies", group),
        Capability("hunt", hunt, How, "hunts", group),
        Capability("online", hunt, How, "hunts with sockets", group, network=True),
        Capability("own", own, Own, "own validator", group),
    ]


@hookimpl
def harness_evaluators() -> list[Evaluator]:
    """Register the evaluator."""
    return [Evaluator("judge", judge, How, "hunts", "regression", ())]
