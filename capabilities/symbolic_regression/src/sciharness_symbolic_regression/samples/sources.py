"""What a predictor was made from: the digest of its table, the versions of its libraries."""

from __future__ import annotations

import hashlib
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

DISTRIBUTIONS = (
    "numpy", "pyoperon", "scipy", "sciharness-publisher", "sciharness-symbolic-regression",
    "sympy",
)  # fmt: skip


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that a search depends on."""
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in DISTRIBUTIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
