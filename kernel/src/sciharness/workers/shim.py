"""The program that stands between the kernel and every child: run as a file, never imported.

It reads its settings, forks, and confines the fork, which then becomes the
program or the worker. The first process stays outside as supervisor: it
inherits orphans, ends the whole tree when told or when the kernel dies, and
reports how the child ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

if __name__ == "__main__":  # the kernel's own folder, for an interpreter started with -P
    _ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if _ROOT not in sys.path:
        sys.path.append(_ROOT)

from typing import Any, NoReturn

from sciharness.workers import processes

_WATCHED = (signal.SIGCHLD, signal.SIGTERM)
_LAST_SECONDS = 0.5
_LOOK_SECONDS = 0.05


def main(settings_fd: int, status_fd: int) -> NoReturn:
    """Start what the settings describe and watch over it until nothing is left."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    with os.fdopen(settings_fd, "rb") as stream:
        raw = stream.read()
    if not raw:
        os._exit(1)  # the kernel ended before it said anything
    settings = json.loads(raw)
    processes.die_with_parent(settings["parent"], signal.SIGTERM)
    processes.adopt_orphans()
    os.set_inheritable(status_fd, False)
    listed = processes.can_list()
    scoped = not listed and _scope_signals()
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        _become(settings, supervisor, status_fd)
    _Supervisor(settings["parent"], child, status_fd, listed, scoped).watch()


def _scope_signals() -> bool:
    from sciharness.workers.landlock import scope_signals

    return scope_signals()


class _Supervisor:
    def __init__(self, kernel: int, child: int, status_fd: int, listed: bool, scoped: bool) -> None:
        self.kernel = kernel
        self.listed = listed
        self.scoped = scoped
        self.child = child
        self.status_fd = status_fd
        self.ended: int | None = None
        for descriptor in (0, 1, 2):  # the pipes belong to the child alone
            os.close(descriptor)
            os.open(os.devnull, os.O_RDWR)

    def watch(self) -> NoReturn:
        told = False
        while self.ended is None and not told:
            told = self._told()
            self.reap()
        if self.listed:
            processes.end_descendants(os.getpid(), reap=self.reap)
        else:
            processes.end_unlisted(self.child, scoped=self.scoped, reap=self.reap)
        # A process whose threads still end is no longer listed as living and not yet to be reaped.
        deadline = time.monotonic() + _LAST_SECONDS
        while not self.reap() and time.monotonic() < deadline:
            time.sleep(0.002)
        self._report()
        os._exit(0)

    def _told(self) -> bool:
        """Wait for news; return whether the kernel says, or shows by its end, to stop."""
        if processes.ON_LINUX:
            return signal.sigwait(_WATCHED) == signal.SIGTERM
        time.sleep(_LOOK_SECONDS)  # no parent-death signal elsewhere
        return os.getppid() != self.kernel or signal.SIGTERM in signal.sigpending()

    def reap(self) -> bool:
        """Collect what has ended; return whether no child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if pid == self.child:
                self.ended = os.waitstatus_to_exitcode(status)

    def _report(self) -> None:
        import resource

        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        _tell(self.status_fd, {"returncode": self.ended, "cpu": used.ru_utime + used.ru_stime})


def _become(settings: dict[str, Any], supervisor: int, status_fd: int) -> NoReturn:  # Any: JSON
    """Limit and confine this fork, then turn it into the program or the worker."""
    try:
        os.setsid()
        processes.die_with_parent(supervisor, signal.SIGKILL)
        _limit(settings["limits"])
        level = _confine(settings["confine"])
        _restore_signals()
        if settings["argv"] is None:
            _tell(status_fd, {"level": level, "pid": os.getpid()})
            os.close(status_fd)
            _serve(level)
        os.chdir(settings["cwd"])
        os.execve(settings["argv"][0], settings["argv"], settings["env"])
    except BaseException as error:  # noqa: BLE001  reported by the supervisor's side of the pipe
        _tell(status_fd, {"failed": f"{type(error).__name__}: {error}"})
    os._exit(127)


def _limit(limits: dict[str, int | None]) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for kind, amount in (
        (resource.RLIMIT_AS, limits["memory_bytes"]),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
    ):
        if amount is not None:
            hard = resource.getrlimit(kind)[1]
            amount = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
            try:
                resource.setrlimit(kind, (amount, amount))
            except (ValueError, OSError):
                if processes.ON_LINUX:  # macOS refuses an address-space limit
                    raise


def _confine(wanted: dict[str, Any] | None) -> str:  # Any: JSON
    if wanted is None:
        return "none"
    from sciharness.workers.confinement import confine

    paths = {key: tuple(wanted[key]) for key in ("read", "write", "execute", "hidden")}
    return confine(**paths, sockets=wanted["sockets"])


def _restore_signals() -> None:
    # Python ignores these two, and both an ignored and a blocked signal outlive exec.
    for signum in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(signum, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)


def _serve(level: str) -> NoReturn:
    for signum in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(signum, signal.SIG_IGN)  # a worker gets OSError instead
    from sciharness.workers.serve import main as serve

    serve(level)
    os._exit(0)


def _tell(descriptor: int, message: dict[str, Any]) -> None:  # Any: JSON
    try:
        os.write(descriptor, json.dumps(message).encode() + b"\n")
    except OSError:
        return  # nobody listens any more


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
