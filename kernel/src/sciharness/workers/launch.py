"""Starting a supervised child: the shim, its settings, its status, its end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from sciharness.workers import processes

GIBIBYTE = 1024**3
MEBIBYTE = 1024**2

_SHIM = Path(__file__).with_name("shim.py")
_SUPERVISED = os.name == "posix"
_END_SECONDS = 1.5


def _paths(given: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(given)


@frozen
class Limits:
    """Bounds of one child: seconds of wall time, bytes of memory, output and single files.

    ``output_bytes`` bounds standard output and standard error each; ``None``
    means no bound.
    """

    wall_seconds: float | None = None
    memory_bytes: int | None = 8192 * MEBIBYTE
    output_bytes: int = 16 * MEBIBYTE
    file_bytes: int | None = 64 * GIBIBYTE


@frozen
class Grants:
    """What a confined child may reach beyond the interpreter and the system's libraries.

    ``write`` folders can be read too, ``execute`` ones read and run. ``hidden``
    folders must not be readable: if a grant opens one, nothing is started.
    """

    read: tuple[Path, ...] = field(default=(), converter=_paths)
    write: tuple[Path, ...] = field(default=(), converter=_paths)
    execute: tuple[Path, ...] = field(default=(), converter=_paths)
    sockets: bool = False
    hidden: tuple[Path, ...] = field(default=(), converter=_paths)

    def to_settings(self) -> dict[str, Any]:  # Any: JSON values
        """Return the grants as the shim reads them."""
        from sciharness.workers.allowed import setting_paths

        listed = {
            name: [os.path.realpath(path) for path in getattr(self, name)]
            for name in ("read", "write", "execute", "hidden")
        }
        listed["read"] += setting_paths()
        listed["hidden"] += filter(None, map(_file_in, listed["hidden"]))
        return {**listed, "sockets": self.sockets}


def _file_in(folder: str) -> str | None:
    """Return a file of a hidden folder: a file may be open to read where its folder is not."""
    try:
        return next((entry.path for entry in os.scandir(folder) if entry.is_file()), None)
    except OSError:
        return None


@frozen
class Ending:
    """How a child ended: exit code (negative: the signal), CPU seconds, or why it never began."""

    returncode: int | None = None
    cpu_seconds: float = 0.0
    refusal: str = ""


@define
class Launched:
    """A running supervisor with the pipes of its child."""

    process: subprocess.Popen[bytes]
    status: int
    level: str = "none"
    pid: int = 0
    _heard: bytes = b""

    def end(self) -> None:
        """End the child with everything it started, within about two seconds."""
        if self.process.poll() is not None:
            return
        if not _SUPERVISED:
            _end_on_windows(self.process)
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:  # the supervisor was stopped or killed
            if processes.can_list():
                processes.end_descendants(self.process.pid, within=0.3)
            self.process.kill()
            self.process.wait()

    def ended(self, seconds: float) -> bool:
        """Wait at most ``seconds`` for the child's end; return whether it came."""
        try:
            self.process.wait(0 if self._status_came(seconds) is False else _END_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    def ending(self) -> Ending:
        """Return how the child ended; call it after :meth:`ended` or :meth:`end`."""
        if not _SUPERVISED:
            return Ending(self.process.returncode)
        while chunk := os.read(self.status, 65536):
            self._heard += chunk
        said: dict[str, Any] = {}  # Any: JSON values
        for line in self._heard.splitlines():
            said.update(json.loads(line))
        if "returncode" not in said:  # the supervisor itself was killed
            return Ending(-int(signal.SIGKILL), 0.0, said.get("failed", ""))
        return Ending(said["returncode"], said["cpu"], said.get("failed", ""))

    def confined(self, seconds: float) -> bool:
        """Wait for a worker's word that it is confined; then ``level`` and ``pid`` are known."""
        if not _SUPERVISED:
            self.pid = self.process.pid
            return True
        deadline = time.monotonic() + seconds
        while b"\n" not in self._heard:
            if not self._status_came(deadline - time.monotonic()):
                return False
            chunk = os.read(self.status, 65536)
            if not chunk:
                return False
            self._heard += chunk
        said = json.loads(self._heard.partition(b"\n")[0])
        self.level, self.pid = said.get("level", self.level), said.get("pid", 0)
        return "level" in said

    def close(self) -> None:
        """Close our ends of the pipes; output pipes are closed by the threads that read them."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        if self.status >= 0:
            os.close(self.status)
            self.status = -1

    def _status_came(self, seconds: float) -> bool:
        if not _SUPERVISED:
            try:
                self.process.wait(max(0.0, seconds))
            except subprocess.TimeoutExpired:
                return False
            return True
        import select

        return bool(select.select([self.status], [], [], max(0.0, seconds))[0])


def launch(
    argv: Sequence[str] | None,
    *,
    cwd: Path,
    env: Mapping[str, str],
    limits: Limits,
    grants: Grants | None,
    stdin: int = subprocess.DEVNULL,
) -> Launched:
    """Start ``argv`` (``None``: a worker) under a supervisor.

    The child dies when the thread that calls this ends, so call it from one
    that lives as long as the child.
    """
    processes.hide_from_peers()
    if not _SUPERVISED:
        return _launch_on_windows(argv, cwd, env, stdin)
    settings_read, settings_write = os.pipe()
    status_read, status_write = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-s", "-P", str(_SHIM), str(settings_read), str(status_write)],
            cwd=cwd,
            env=dict(env) if argv is None else _shim_environment(env),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(settings_read, status_write),
            start_new_session=True,
        )
    except BaseException:
        os.close(status_read)
        os.close(settings_write)
        raise
    finally:
        os.close(settings_read)
        os.close(status_write)
    settings = {
        "parent": os.getpid(),
        "argv": None if argv is None else _resolved(argv, env),
        "cwd": str(cwd),
        "env": dict(env),
        "limits": {"memory_bytes": limits.memory_bytes, "file_bytes": limits.file_bytes},
        "confine": None if grants is None else grants.to_settings(),
    }
    try:
        with os.fdopen(settings_write, "wb") as stream:
            stream.write(json.dumps(settings).encode())
    except BrokenPipeError:
        pass  # it ended at once; its status tells
    return Launched(process, status_read)


def _shim_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Keep what starts an interpreter, drop what would change ours (PYTHONPATH, PYTHONHOME)."""
    return {name: value for name, value in env.items() if not name.startswith("PYTHON")}


def _resolved(argv: Sequence[str], env: Mapping[str, str]) -> list[str]:
    import shutil

    program = str(argv[0])
    found = program if os.path.isabs(program) else shutil.which(program, path=env.get("PATH"))
    if found is None:
        raise FileNotFoundError(f"no program {program!r} in the child's search path")
    return [found, *map(str, argv[1:])]


def _launch_on_windows(
    argv: Sequence[str] | None, cwd: Path, env: Mapping[str, str], stdin: int
) -> Launched:  # not tested: no Windows machine
    worker = [sys.executable, "-s", "-P", str(_SHIM.with_name("serve.py"))]
    process = subprocess.Popen(
        worker if argv is None else _resolved(argv, env),
        cwd=cwd,
        env=dict(env),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    return Launched(process, -1)


def _end_on_windows(process: subprocess.Popen[bytes]) -> None:  # not tested
    subprocess.run(
        ["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False
    )
    process.kill()
    process.wait()
