"""Whether PySR could run here: a look at files and paths that imports and downloads nothing.

Importing ``pysr`` without Julia would download Julia and its packages; so the
import happens in a child process only, offline, and only after this look.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

INSTALL = (
    "install `sciharness-symbolic-regression[pysr]` and Julia, then run once, with a network: "
    'python -c "import pysr"'
)


def missing() -> str | None:
    """Return what PySR lacks here and what to do, or None if it is ready."""
    if find_spec("pysr") is None:
        return f"PySR is not installed; {INSTALL}"
    try:
        installed = version("pysr")
    except PackageNotFoundError:
        installed = "of unknown version"
    if julia() is None:
        return f"PySR {installed} is installed, but Julia was not found; {INSTALL}"
    return None


def julia() -> Path | None:
    """Return the Julia that PySR would start, or None."""
    named = os.environ.get("PYTHON_JULIAPKG_EXE")
    if named:
        found = shutil.which(named)
        return Path(found) if found else None
    project = _project() / "pyjuliapkg"
    for candidate in (_recorded(project / "meta.json"), project / "install" / "bin" / "julia"):
        if candidate is not None and candidate.is_file():
            return candidate
    found = shutil.which("julia") or shutil.which("juliaup")
    return Path(found) if found else None


def _project() -> Path:
    """Return the folder in which juliapkg keeps what it has installed."""
    named = os.environ.get("PYTHON_JULIAPKG_PROJECT")
    if named:
        return Path(named)
    if sys.prefix != sys.base_prefix:
        return Path(sys.prefix) / "julia_env"
    conda = os.environ.get("CONDA_PREFIX")
    if conda:
        return Path(conda) / "julia_env"
    return Path.home() / ".julia" / "environments" / "pyjuliapkg"


def _recorded(meta: Path) -> Path | None:
    try:
        executable = json.loads(meta.read_text("utf-8"))["executable"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Path(executable) if isinstance(executable, str) else None
