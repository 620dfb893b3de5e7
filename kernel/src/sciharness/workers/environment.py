"""The environment of a child: an allow-list, with every cache inside its workspace."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# What sites set so that programs find their libraries, and what time stamps read.
_PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ", "SYSTEMROOT", "COMSPEC", "PATHEXT")
_THREAD_COUNTS = (
    "BLIS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def child_environment(workspace: Path, threads: int) -> dict[str, str]:
    """Return the whole environment of a child that works in ``workspace``.

    No variable of the caller passes but those named here, so no credential
    does. ``HOME``, ``TMPDIR`` and the cache folders lie in the workspace and
    exist afterwards. Text hashing is fixed, so that equal inputs give equal
    orders; ``threads`` caps BLAS and OpenMP.
    """
    home = workspace / ".home"
    places = {
        "HOME": home,
        "TMPDIR": workspace / ".tmp",
        "TEMP": workspace / ".tmp",
        "MPLCONFIGDIR": home / "matplotlib",
        "XDG_CACHE_HOME": home / "cache",
        "XDG_CONFIG_HOME": home / "config",
    }
    for folder in places.values():
        folder.mkdir(parents=True, exist_ok=True)
    return {
        **{name: os.environ[name] for name in _PASSED_ON if name in os.environ},
        **{name: str(threads) for name in _THREAD_COUNTS},
        **{name: str(folder) for name, folder in places.items()},
        "LC_ALL": "C.UTF-8",
        "PATH": _search_path(),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
    }


def _search_path() -> str:
    if os.name == "nt":
        return os.environ.get("PATH", os.defpath)
    programs = [os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"]
    return os.pathsep.join(dict.fromkeys(programs))
