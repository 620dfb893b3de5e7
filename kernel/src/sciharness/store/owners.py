"""Who works on a run: host and boot as a hash, process and its start."""

from __future__ import annotations

import json
import os
import platform
from hashlib import sha256
from pathlib import Path

from attrs import asdict, frozen

_PROC = Path("/proc")


@frozen
class Owner:
    """A process that holds a run.

    ``host`` is a hash of host name, boot and process namespace; ``started``
    the start of the process in clock ticks since boot, as text.
    """

    host: str
    pid: int
    started: str

    @classmethod
    def current(cls) -> Owner:
        """Return this process as an owner."""
        pid = os.getpid()
        return cls(_host(), pid, _start_of(pid) or "")

    @classmethod
    def parse(cls, text: str) -> Owner:
        """Return the owner that :meth:`to_text` wrote."""
        value = json.loads(text)
        return cls(value["host"], value["pid"], value["started"])

    def to_text(self) -> str:
        """Return the owner as JSON text."""
        return json.dumps(asdict(self), sort_keys=True)


def is_alive(owner: Owner) -> bool:
    """Whether that very process still runs on this machine.

    After a reboot, on another machine and for a process ID that was used
    again the answer is no.
    """
    if owner.host != _host():
        return False
    if _PROC.is_dir():
        started = _start_of(owner.pid)
        return started is not None and started == owner.started
    return _answers(owner.pid)


def _host() -> str:
    parts = [platform.node()]
    for name in ("sys/kernel/random/boot_id", "self/ns/pid"):
        place = _PROC / name
        try:
            parts.append(os.readlink(place) if "ns/" in name else place.read_text("ascii").strip())
        except OSError:
            parts.append("")
    return sha256("\n".join(parts).encode()).hexdigest()


def _start_of(pid: int) -> str | None:
    """Return the start of a living process; a zombie has ended."""
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    # The command's name stands in parentheses and may hold anything.
    fields = text[text.rindex(b")") + 2 :].split()
    return None if fields[0] in {b"Z", b"X"} else fields[19].decode()


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
