"""What commands print: JSON on stdout, messages on stderr, one error shape."""

from __future__ import annotations

import json
import sys
import time
import traceback
from typing import Any

import click

from sciharness.errors import HarnessError

FIRST_PROGRESS = 10.0  # seconds


def print_json(value: Any) -> None:  # Any: JSON values
    """Print one JSON document on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))


def error_dict(fault: HarnessError) -> dict[str, Any]:  # Any: JSON values
    """Return the error object of ``--json`` output with its problems."""
    problems = [problem.to_dict() for problem in fault.problems]
    error = {
        "kind": fault.kind,
        "where": fault.where,
        "message": fault.message,
        "hint": fault.hint,
    }
    return {"error": error, "problems": problems}


def print_error(fault: HarnessError) -> None:
    """Print an error that comes before a run exists, as JSON on stdout."""
    print_json(error_dict(fault))


def say(message: str) -> None:
    """Print a message on stderr."""
    click.echo(message, err=True)


class Teller:
    """Says what a run is doing; progress is told seldom where nobody watches a terminal.

    Lines that are indented tell of progress inside a step. Into a file or pipe
    the first goes after ten seconds, each further one after twice the time.
    """

    def __init__(self) -> None:
        self._watched = sys.stderr.isatty()
        self._begun = time.monotonic()
        self._due = FIRST_PROGRESS

    def __call__(self, message: str) -> None:
        """Say ``message``, unless it is progress that can wait."""
        now = time.monotonic()
        if not message.startswith(" "):
            self._begun, self._due = now, FIRST_PROGRESS
        elif not self._watched:
            elapsed = now - self._begun
            if elapsed < self._due:
                return
            self._due = 2 * elapsed
        say(message)


def say_error(fault: HarnessError) -> None:
    """Print an error and all its problems on stderr, one per line."""
    head = f"{fault.where}: {fault.message}" if fault.where else fault.message
    say(f"Error: {head}")
    for problem in fault.problems:
        say(f"  {problem}")
    if fault.hint:
        say(f"  {fault.hint}")


def report_failure(fault: Exception, *, as_json: bool) -> int:
    """Print whatever ended a command and return its exit code."""
    if not isinstance(fault, HarnessError):
        fault = _of_the_disk(fault) or _internal(fault)
    try:
        if as_json:
            print_error(fault)
            return fault.exit_code
    except OSError:  # standard output cannot be written: say it on the other one
        pass
    say_error(fault)
    return fault.exit_code


def _of_the_disk(fault: Exception) -> HarnessError | None:
    if not isinstance(fault, OSError):
        return None
    from sciharness.store.errors import disk_fault

    return disk_fault("workspace", fault)


def _internal(fault: Exception) -> HarnessError:
    traceback.print_exception(fault, file=sys.stderr)
    return HarnessError(
        f"{type(fault).__name__}: {fault}",
        hint="This is a fault of sciharness itself; please report it with the lines above.",
    )
