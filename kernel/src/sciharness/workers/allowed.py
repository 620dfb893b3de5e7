"""The allow-list every confined process gets, derived from the running interpreter.

Enough for numpy, pandas, scikit-learn, matplotlib, pyoperon and xtrack as
measured: libraries that test for a file before they open it raise instead of
falling back, so system information is granted generously.
"""

from __future__ import annotations

import os
import sys

from sciharness.workers.landlock import DEVICE, READ, READ_FILE, RUN, SHARED_MEMORY

READ_PATHS_SETTING = "HARNESS_READ_PATHS"

_SYSTEM_PROGRAMS = ("/usr", "/lib", "/lib64", "/bin", "/sbin")
_SYSTEM_FACTS = (
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/ssl",
    "/etc/timezone",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/self",
    "/proc/stat",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/vm/overcommit_memory",
    "/proc/version",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
)
_SHARED = "/dev/shm"
_SOURCES_OF_BYTES = ("/dev/random", "/dev/urandom", "/dev/zero")


def base_rules(extra: tuple[str, ...] = (), hidden: tuple[str, ...] = ()) -> list[tuple[str, int]]:
    """Return the rules ``(path, rights)`` that every confined process gets.

    ``extra`` can be read as well. Shared memory is left out where a ``hidden``
    folder lies in it, since files there can be opened by their names.
    Of ``/proc`` only the process itself and machine facts: others' command
    lines, and for root their environments, would be readable there.
    """
    rules = [(path, RUN) for path in program_folders()]
    rules += [(path, READ) for path in (*library_folders(), *extra, *_SYSTEM_FACTS)]
    rules += [(path, READ_FILE) for path in _SOURCES_OF_BYTES]
    rules.append(("/dev/null", DEVICE))
    if not any(os.path.realpath(folder).startswith(f"{_SHARED}/") for folder in hidden):
        rules.append((_SHARED, SHARED_MEMORY))
    return rules


def program_folders() -> list[str]:
    """Return what may also be executed: the interpreter's prefixes and the system's programs."""
    return _distinct([sys.prefix, sys.exec_prefix, sys.base_prefix, *_SYSTEM_PROGRAMS])


def library_folders() -> list[str]:
    """Return the folders that imports and the dynamic loader read: modules and mapped libraries."""
    listed = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    return _distinct([*sys.path, *listed, *_mapped_folders()])


def setting_paths() -> tuple[str, ...]:
    """Return the read paths of the setting ``HARNESS_READ_PATHS``, absolute ones only."""
    found = os.environ.get(READ_PATHS_SETTING, "").split(os.pathsep)
    return tuple(path for path in found if os.path.isabs(path))


def _mapped_folders() -> set[str]:
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as lines:
            paths = {line.split(None, 5)[-1].strip() for line in lines if ".so" in line}
    except OSError:
        return set()
    return {os.path.dirname(path) for path in paths if path.startswith("/")}


def _distinct(paths: list[str]) -> list[str]:
    """Return the absolute ones, once each; ``/`` itself would grant everything."""
    usable = (path for path in paths if os.path.isabs(path) and os.path.realpath(path) != "/")
    return list(dict.fromkeys(usable))
