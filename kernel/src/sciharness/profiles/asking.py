"""A profile asked of a worker of its own, so that no attachment can harm who asks."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

from sciharness.bundles import RuleError
from sciharness.errors import DataError
from sciharness.profiles.records import KINDS, Profile
from sciharness.workers.child import ChildResult, Grants, Limits, child_environment, run_child

MEMORY_BYTES = 512 * 2**20
OUTPUT_BYTES = 2**20
WALL_SECONDS = (
    60.0  # the worker bounds its CPU time itself; this is for a machine that stands still
)

_PROGRAM = "from sciharness.profiles._child import main; main()"


def profile(path: Path) -> Profile:
    """Return what may be shown of a file or folder; nothing of it is run.

    A file that no reader survives is ``opaque``, with the reason as a warning.

    Raises:
        DataError: there is no such file, or the attachment is refused; the
            message names the rule.
    """
    kind = _kind_of(path)
    place = Path(os.path.realpath(path.parent)) / path.name
    with tempfile.TemporaryDirectory(prefix="profile-") as scratch:
        said = run_child(
            [sys.executable, "-I", "-B", "-c", _PROGRAM, str(place)],
            cwd=Path(scratch),
            env=child_environment(Path(scratch), 1),
            limits=Limits(WALL_SECONDS, MEMORY_BYTES, OUTPUT_BYTES, file_bytes=0),
            grants=Grants(read=(place,), write=(Path(scratch),)),
        )
    answer = _answer(said)
    if answer is None:
        return _unparseable(path, kind, said)
    if "refused" in answer:
        refused = answer["refused"]
        raise DataError(str(refused["message"]), where=path.name, hint=str(refused["hint"]))
    found = answer["profile"]
    return Profile(
        kind=found["kind"],
        bytes=found["bytes"],
        sha256=found["sha256"],
        roles=tuple(found["roles"]),
        facts=found["facts"],
        warnings=tuple(found["warnings"]),
    )


def _kind_of(path: Path) -> int:
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise DataError(said, where=path.name, hint="Check the path.") from error
    if stat.S_ISLNK(mode):
        raise _refused(path, "link", "it is a link", "Name the file itself.")
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise _refused(path, "special file", "it is neither a regular file nor a folder", "")
    if not os.access(path, os.R_OK):
        raise DataError("Permission denied", where=path.name, hint="It has to be readable for you.")
    return mode


def _refused(path: Path, rule: str, message: str, hint: str) -> DataError:
    fault = RuleError(rule, message, hint)
    fault.where = path.name
    return fault


def _answer(said: ChildResult) -> dict[str, Any] | None:  # Any: JSON values
    """Return the worker's words if they are what a worker of ours says."""
    if said.returncode != 0 or said.failure is not None:
        return None
    try:
        answer = json.loads(said.stdout)
        known = "refused" in answer or answer["profile"]["kind"] in KINDS
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return answer if known else None


def _unparseable(path: Path, mode: int, said: ChildResult) -> Profile:
    import hashlib

    reason = {"memory": "more memory than allowed", "timeout": "more time than allowed"}.get(
        said.failure or "", "its reader ended"
    )
    if said.returncode in (-24, -9):  # SIGXCPU, then SIGKILL
        reason = "more time than allowed"
    warning = f"unparseable: {reason}; nothing but its bytes is known"
    if stat.S_ISDIR(mode):
        raise DataError(warning, where=path.name, hint="Leave out what is not needed.")
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        size = stream.tell()
    return Profile("opaque", size, digest, ("other",), {}, (warning,))
