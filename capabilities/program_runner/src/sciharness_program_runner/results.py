"""What a program leaves: metrics in result.json and the outputs that were declared."""

from __future__ import annotations

import json
import math
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sciharness import Context
from sciharness.errors import RequestError
from sciharness.programs import ActionFailed

RESULT = "result.json"
MOST_RESULT = 2**20
OWN = ("run_record.json", "adapter_validation.json", RESULT)

# They say what only the runtime, or a test of its own, may say.
_RESERVED = frozenset(
    {
        "adapter_validation",
        "environment",
        "predictor.evaluation",
        "scientific_report",
        "solver_bundle",
        "directory_bundle",
    }
)


def check_outputs(outputs: Mapping[str, str]) -> None:
    """Refuse outputs that no program may declare.

    Raises:
        RequestError: a name is no plain file name or ours, a type is reserved.
    """
    for name, kind in outputs.items():
        where = f"outputs.{name}"
        plain = name and name not in (".", "..") and not set(name) & set("/\\\0:")
        if not plain or name.startswith("."):
            raise RequestError("is no plain file name", where=where, hint="Write no folders.")
        if name in OWN:
            raise RequestError("is kept already", where=where, hint="Leave it out.")
        if kind.lower() in _RESERVED:
            raise RequestError(
                f"the type {kind} is not a program's to give", where=where, hint="Use OTHER."
            )


def metrics_of(folder: Path) -> tuple[dict[str, float], bytes]:
    """Return the metrics that a program reported and the bytes of its result.json.

    They stand under ``metrics``, or are the numbers of the document itself.

    Raises:
        ActionFailed: the file is no JSON object, or a metric is no finite number.
    """
    raw = _content(folder / RESULT)
    if raw is None:
        return {}, b""
    try:
        document = json.loads(raw.decode("utf-8"), object_pairs_hook=_members)
    except (ValueError, RecursionError) as error:
        raise ActionFailed(f"{RESULT} is no JSON: {error}", reason="bad_metric") from error
    if not isinstance(document, dict):
        raise ActionFailed(f"{RESULT} is no JSON object", reason="bad_metric")
    named = document.get("metrics")
    if named is None:
        found = {name: value for name, value in document.items() if _is_number(value)}
    elif isinstance(named, dict):
        found = named
    else:
        raise ActionFailed(f"{RESULT}: metrics has to be an object", reason="bad_metric")
    bad = sorted(name for name, value in found.items() if not _is_metric(value))
    if bad:
        raise ActionFailed(
            f"{RESULT}: {', '.join(bad)}: a metric is a finite number", reason="bad_metric"
        )
    return {name: float(value) for name, value in found.items()}, raw


def take_outputs(folder: Path, outputs: Mapping[str, str], context: Context) -> list[str]:
    """Hand over the declared outputs; return the names of further files, which are not kept.

    Raises:
        ActionFailed: one is missing, or is no regular file of its own.
    """
    missing = sorted(name for name in outputs if not os.path.lexists(folder / name))
    if missing:
        raise ActionFailed(f"not written: {', '.join(missing)}", reason="missing_result")
    for name, kind in outputs.items():
        found = os.lstat(folder / name)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise ActionFailed(f"{name} is no regular file of its own", reason="bad_artifact")
        shutil.move(folder / name, context.output(name, kind))
    left = {entry.name for entry in os.scandir(folder) if not entry.name.startswith(".")}
    return sorted(left - {RESULT})


def _content(path: Path) -> bytes | None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ActionFailed(f"{RESULT} is no regular file", reason="bad_artifact") from error
    with os.fdopen(file, "rb") as stream:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise ActionFailed(f"{RESULT} is no regular file", reason="bad_artifact")
        raw = stream.read(MOST_RESULT + 1)
    if len(raw) > MOST_RESULT:
        raise ActionFailed(f"{RESULT} is larger than {MOST_RESULT} bytes", reason="bad_metric")
    return raw


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:  # Any: JSON values
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_metric(value: Any) -> bool:  # Any: JSON values
    try:
        return _is_number(value) and math.isfinite(float(value))
    except OverflowError:
        return False
