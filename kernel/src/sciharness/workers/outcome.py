"""What an operation may give back; checked in the worker and again by the kernel.

The worker's check gives the plugin's author a plain message. The kernel's
check is the one that counts, since a plugin can write to the pipe itself.
"""

from __future__ import annotations

import math
import numbers
import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from sciharness.descriptors import Operation
from sciharness.workers.failures import ActionFailed, Reason
from sciharness.workers.texts import plain_text

METRIC = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,99}")
ANY_METRIC = "*"
RUNTIME_METRIC = "task_completion"  # no program's to give

MAX_NOTES, MAX_NOTE = 200, 4000
MAX_ARTIFACTS, MAX_NAME = 512, 200


@frozen
class Produced:
    """A file that an action wrote: its artifact name and type, and where it lies."""

    name: str
    type: str
    path: Path


def checked_metrics(metrics: object, declared: Sequence[str]) -> dict[str, float]:
    """Return metrics as finite floats.

    Booleans, texts, ``None``, NaN and infinite values are no metrics, and each
    one is named.

    Raises:
        ActionFailed: reason ``nonsense``, ``bad_metric`` or ``undeclared_metric``.
    """
    if not isinstance(metrics, Mapping):
        raise _failed("nonsense", f"metrics have to be a mapping, got {_shown(metrics)}")
    bad = [f"{name} is {_shown(value)}" for name, value in metrics.items() if not is_metric(value)]
    if bad:
        raise _failed("bad_metric", f"metrics have to be finite numbers: {', '.join(sorted(bad))}")
    unknown = sorted(str(name) for name in metrics if not _is_declared(str(name), declared))
    if unknown:
        known = ", ".join(declared) or "none"
        if ANY_METRIC in declared:
            known = f"any name of letters, digits and _.:-, but not {RUNTIME_METRIC}"
        raise _failed("undeclared_metric", f"{', '.join(unknown)} not declared (declared: {known})")
    return {str(name): float(value) for name, value in metrics.items()}


def _is_declared(name: str, declared: Sequence[str]) -> bool:
    if name in declared:
        return name != ANY_METRIC
    return ANY_METRIC in declared and name != RUNTIME_METRIC and bool(METRIC.fullmatch(name))


def is_metric(value: object) -> bool:
    """Return whether a value is a finite real number and not a truth value."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def checked_notes(notes: object) -> tuple[str, ...]:
    """Return notes as texts.

    Raises:
        ActionFailed: reason ``nonsense``.
    """
    if isinstance(notes, str) or not isinstance(notes, list | tuple):
        raise _failed("nonsense", f"notes have to be a list of texts, got {_shown(notes)}")
    if len(notes) > MAX_NOTES or not all(isinstance(note, str) for note in notes):
        raise _failed("nonsense", f"notes have to be at most {MAX_NOTES} texts")
    return tuple(plain_text(note, MAX_NOTE) for note in notes)


def checked_outputs(outputs: object) -> dict[str, str]:
    """Return the names and types of the artifacts that were asked for.

    Raises:
        ActionFailed: reason ``bad_artifact``.
    """
    if not isinstance(outputs, Mapping) or len(outputs) > MAX_ARTIFACTS:
        raise _failed("bad_artifact", f"expected at most {MAX_ARTIFACTS} artifacts by name")
    for name, kind in outputs.items():
        if not is_artifact_name(name) or not isinstance(kind, str) or not kind:
            raise _failed("bad_artifact", f"{_shown(name)} of type {_shown(kind)} is no artifact")
    return dict(outputs)


def is_artifact_name(name: object) -> bool:
    """Return whether a name is a plain file name that every system can hold."""
    if not isinstance(name, str) or not name or name in {".", ".."}:
        return False
    return name.isprintable() and not set(name) & set("/\\:") and len(name.encode()) <= MAX_NAME


def collected(
    folder: Path, outputs: Mapping[str, str], operation: Operation
) -> tuple[Produced, ...]:
    """Return the artifacts in ``folder``, which the worker can no longer reach.

    Raises:
        ActionFailed: ``missing_result`` for a file that is not there,
            ``bad_artifact`` for a link, a special file, a second name of
            another file, or a type other than the declared one.
    """
    declared = {output.name: output for output in operation.outputs}
    absent = [name for name, spec in declared.items() if not spec.optional and name not in outputs]
    absent += [name for name in outputs if not os.path.lexists(folder / name)]
    if absent:
        raise _failed("missing_result", f"not written: {', '.join(sorted(absent))}")
    for name, kind in outputs.items():
        found = os.lstat(folder / name)  # the folder is the kernel's now: nothing moves any more
        if not stat.S_ISREG(found.st_mode):
            raise _failed("bad_artifact", f"{name} is a link, a folder or a special file")
        if found.st_nlink != 1:
            raise _failed("bad_artifact", f"{name} is a second name of another file")
        if name in declared and declared[name].type.casefold() != kind.casefold():
            expected = declared[name].type
            raise _failed("bad_artifact", f"{name} is declared {expected}, written as {kind}")
        os.chmod(folder / name, 0o644)
    return tuple(Produced(name, outputs[name], folder / name) for name in sorted(outputs))


def checked_usage(usage: object, known: Sequence[str]) -> dict[str, float]:
    """Return charged amounts by budget key.

    Raises:
        ActionFailed: reason ``nonsense``: an unknown key or an amount below zero.
    """
    if not isinstance(usage, Mapping):
        raise _failed("nonsense", f"a charge has to be a mapping, got {_shown(usage)}")
    for key, amount in usage.items():
        if key not in known:
            raise _failed("nonsense", f"charged {_shown(key)}, known: {', '.join(known)}")
        if not is_metric(amount) or float(amount) < 0:
            raise _failed("nonsense", f"charged {key} = {_shown(amount)}, expected a number >= 0")
    return {str(key): float(amount) for key, amount in usage.items()}


def _failed(reason: Reason, message: str) -> ActionFailed:
    return ActionFailed(plain_text(message, MAX_NOTE), reason=reason)


def _shown(value: Any) -> str:  # Any: whatever a plugin gave
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  a plugin's repr may raise anything
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:60] + "..."
