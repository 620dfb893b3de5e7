"""The Local Executor: one program, checked, run as a child process, its result taken."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sciharness import Context, Input, Outcome
from sciharness.adapters import OPTIONS, RECORD, smoke_test
from sciharness.errors import DataError
from sciharness.profiles.command_line import CommandLine, command_line
from sciharness.profiles.source import SourceFault, parse_source
from sciharness.programs import (
    ActionFailed,
    ChildResult,
    Grants,
    Limits,
    child_environment,
    isolation,
    run_program,
)
from sciharness_program_runner.arguments import check_arguments, default_arguments, filled
from sciharness_program_runner.requests import RunRequest
from sciharness_program_runner.results import RESULT, check_outputs, metrics_of, take_outputs

PROGRAM, SOLVER = "program", "solver"
LEAST_SECONDS, MOST_SECONDS, CALL_SECONDS = 300.0, 7200.0, 1.0
MOST_SOURCE = 10 * 2**20
MEBIBYTE = 2**20

# What this machine confines, in words for the person who reads the notes of the action.
CONFINED = {
    "landlock+seccomp": "confined by Landlock and seccomp: it reads its inputs and the system's "
    "libraries, writes its own folder, and has no network",
    "landlock": "confined by Landlock: it reads its inputs and the system's libraries and writes "
    "its own folder; the network is open where the kernel's Landlock does not cover it",
    "none": "not confined: this machine has no Landlock, so it ran with the user's file and "
    "network rights",
}
NO_SANDBOX = "This is a limit on ordinary child processes, no sandbox of the operating system."
_AT_IMPORT = (b"importlib._bootstrap", b"failed to map segment", b"OpenBLAS")
_NO_MEMORY = (b"Memory allocation still failed", b"pthread_create failed")


def run(request: RunRequest, context: Context) -> Outcome:
    """Check a program against its command line, run it, and take what it declared.

    A solver adapter whose solver documents a short call is tried by that call,
    and the record of the trial is the result.

    Raises:
        RequestError: the program requires arguments that it is not given.
        DataError: the program is no Python source.
        ActionFailed: it failed, ran out of time or memory, or left something else.
    """
    source = _source(context.inputs[PROGRAM])
    line = _command_line(source)
    if _is_adapter(line, context.inputs.get(SOLVER)):
        return _smoke(request, context)
    check_outputs(request.outputs)
    given = {name: one for name, one in context.inputs.items() if name != PROGRAM}
    words = list(request.arguments) or default_arguments(given)
    check_arguments(line, words)
    arguments = filled(words, {name: str(one.path) for name, one in given.items()})
    if request.expected_solver_calls:
        context.charge(solver_calls=request.expected_solver_calls)
    folder = context.workspace / "program"
    program = _placed(folder, context.inputs[PROGRAM], source)
    done = _run(request, context, program, arguments, [one.path for one in given.values()])
    _refuse_failure(done, request)
    metrics, raw = metrics_of(folder / "work")
    extra = take_outputs(folder / "work", request.outputs, context)
    if raw:
        context.output(RESULT, "OTHER").write_bytes(raw)
    _write_record(request, context, source, words)
    return Outcome(metrics, tuple(_notes(done, extra)))


def time_limit(request: RunRequest, left: float | None) -> float:
    """Return after how many seconds a program is ended: the strictest of all limits.

    >>> time_limit(RunRequest(), None), time_limit(RunRequest(expected_solver_calls=10**6), None)
    (300.0, 7200.0)
    >>> time_limit(RunRequest(timeout=20.0), 5.0)
    5.0
    """
    grown = LEAST_SECONDS + CALL_SECONDS * request.expected_solver_calls
    known = [min(MOST_SECONDS, grown), request.timeout, left]
    return min(limit for limit in known if limit is not None)


def _source(given: Input) -> bytes:
    with given.path.open("rb") as stream:
        source = stream.read(MOST_SOURCE + 1)
    if len(source) > MOST_SOURCE:
        raise DataError(f"is larger than {MOST_SOURCE} bytes", where=PROGRAM)
    return source


def _command_line(source: bytes) -> CommandLine:
    try:
        return command_line(parse_source(source))
    except SourceFault as fault:
        hint = "A program is one Python source in UTF-8."
        raise DataError(f"cannot be read: {fault}", where=PROGRAM, hint=hint) from fault


def _is_adapter(line: CommandLine, solver: Input | None) -> bool:
    names = {name for option in line.options for name in option.names}
    documented = solver is not None and (solver.meta.get("solver") or {}).get("smoke")
    return bool(documented) and names.issuperset(OPTIONS)


def _smoke(request: RunRequest, context: Context) -> Outcome:
    name, kind = RECORD
    found = smoke_test(
        context.inputs[PROGRAM].path,
        context.inputs[SOLVER],
        context.workspace / "smoke",
        seconds=time_limit(request, context.time_limit),
        prefix=context.launch.prefix if context.launch is not None else (),
        cancelled=lambda: context.cancelled,
    )
    context.output(name, kind).write_bytes(found.to_bytes())
    failed = [one for one in found.record["checks"] if not one["passed"]]
    notes = [f"failed: {one['check']}: {one['found']}" for one in failed]
    statements = tuple(found.record["statements"])
    return Outcome({"adapter_validated": float(found.passed)}, (*notes, *statements))


def _placed(folder: Path, given: Input, source: bytes) -> Path:
    (folder / "work").mkdir(parents=True)
    program = folder / "source" / "program.py"
    program.parent.mkdir()
    program.write_bytes(source)  # the bytes that were checked are the bytes that run
    return program


def _run(
    request: RunRequest, context: Context, program: Path, arguments: list[str], reads: list[Path]
) -> ChildResult:
    work = program.parent.parent / "work"
    return run_program(
        context,
        # -X: bytecode that lies beside a module is never taken for it.
        [
            sys.executable,
            "-I",
            "-B",
            "-X",
            f"pycache_prefix={work / '.pyc'}",
            str(program),
            *arguments,
        ],
        cwd=work,
        env=child_environment(work, context.workers),
        limits=Limits(
            wall_seconds=time_limit(request, context.time_limit),
            memory_bytes=request.memory_mib * MEBIBYTE,
            file_bytes=request.output_mib * MEBIBYTE,
        ),
        grants=Grants(read=(program, *reads), write=(work,), execute=(work,)),
    )


def _refuse_failure(done: ChildResult, request: RunRequest) -> None:
    """Raise for a program that did not end well, with the end of what it said."""
    if done.failure is None and done.returncode == 0:
        return
    tail = done.stderr.decode("utf-8", "replace").strip().splitlines()[-20:]
    last = tail[-1] if tail else "it said nothing"
    if done.failure == "memory" or any(sign in done.stderr for sign in _NO_MEMORY):
        imported = any(sign in done.stderr for sign in _AT_IMPORT)
        at = "at import" if imported else "while it ran"
        said = f"memory failure {at} within {request.memory_mib} MiB: {last}"
        raise ActionFailed(said, reason="memory", detail="\n".join(tail))
    if done.failure == "timeout":
        said = f"ended by its time limit after {done.seconds:.0f} s"
    elif done.failure == "cancelled":
        said = "the program was stopped on request"
    elif done.failure is not None:
        said = f"the program ended with {done.failure}: {last}"
    else:
        said = f"the program ended with exit code {done.returncode}: {last}"
    raise ActionFailed(said, reason=done.failure or "error", detail="\n".join(tail))


def _write_record(request: RunRequest, context: Context, source: bytes, words: list[str]) -> None:
    """Keep what ran on what: digests and the command, no times, so that equal runs are equal."""
    record: Mapping[str, Any] = {  # Any: JSON values
        "schema": "program-run-v1",
        "program_sha256": hashlib.sha256(source).hexdigest(),
        "arguments": words,
        "inputs": {
            name: {"artifacts": list(one.meta.get("artifacts", ()))}
            for name, one in sorted(context.inputs.items())
        },
        "outputs": dict(request.outputs),
        "confinement": isolation(),
        "launch_prefix": list(context.launch.prefix) if context.launch is not None else [],
        "trusted": False,
    }
    text = json.dumps(record, indent=2, sort_keys=True) + "\n"
    context.output("run_record.json", "OTHER").write_text(text, "utf-8")


def _notes(done: ChildResult, extra: list[str]) -> list[str]:
    notes = [f"The program was {CONFINED[isolation()]}.", NO_SANDBOX]
    if extra:
        shown = ", ".join(extra[:10]) + (" and more" if len(extra) > 10 else "")
        notes.append(f"Written but not declared, so not kept: {shown}.")
    said = done.stdout.decode("utf-8", "replace").strip().splitlines()
    if said:
        notes.append(f"Its last line: {said[-1][:500]}")
    return notes
