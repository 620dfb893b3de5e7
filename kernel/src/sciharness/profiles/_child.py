"""The worker of a profile: reads one attachment, prints JSON, may die without harm."""

from __future__ import annotations

import gc
import hashlib
import json
import math
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

from attrs import evolve

from sciharness.bundles import RuleError
from sciharness.errors import HarnessError
from sciharness.profiles.records import MOST_BYTES, Profile

CPU_SECONDS = 2


def main() -> None:
    """Print the profile of the file or folder that is named, or why it is refused."""
    _bound_time()
    gc.disable()  # it ends soon, and nothing it makes goes round in circles
    said: dict[str, Any]  # Any: JSON values
    try:
        said = {"profile": profile_here(Path(sys.argv[1])).to_dict()}
    except HarnessError as fault:
        said = {"refused": {"message": fault.message, "hint": fault.hint}}
    sys.stdout.buffer.write(json.dumps(said, allow_nan=False).encode() + b"\n")


def profile_here(path: Path) -> Profile:
    """Return the profile of a file or folder, made in this process.

    Raises:
        RuleError: the attachment is refused.
    """
    from sciharness.profiles._files import profile_file
    from sciharness.profiles._folders import profile_folder, profile_zip

    if stat.S_ISDIR(os.lstat(path).st_mode):
        return profile_folder(path)
    with _opened(path) as stream:
        before = os.fstat(stream.fileno())
        data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise RuleError(
                "bytes",
                f"it holds more than {MOST_BYTES} bytes",
                "A contract takes larger files; name it there as an input.",
            )
        if data[:4] in (b"PK\3\4", b"PK\5\6"):
            found = profile_zip(stream.fileno())
        else:
            found = profile_file(path.name, data)
        after = os.fstat(stream.fileno())
    if len(data) != after.st_size or before.st_mtime_ns != after.st_mtime_ns:
        raise RuleError("changed", "it changed while it was being read")
    return evolve(found, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())


def _opened(path: Path) -> Any:  # Any: a binary file object
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    return os.fdopen(file, "rb")


def _bound_time() -> None:
    """Let the system end this process after some seconds of CPU from now on."""
    import resource

    used = math.ceil(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + CPU_SECONDS, used + CPU_SECONDS + 1))
