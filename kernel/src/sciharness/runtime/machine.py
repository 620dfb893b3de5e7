"""The machine that a run is on, as far as its results may depend on it."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path


def machine_facts() -> dict[str, object]:
    """Return processor model and number of cores; no name of host or user."""
    return {"cpu": _cpu(), "cores": os.cpu_count() or 1}


def _cpu() -> str:
    with suppress(OSError, UnicodeDecodeError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in {"model name", "Model"}:
                return " ".join(value.split())
    return platform.processor() or platform.machine()
