"""The command line as a person calls it, with a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def harness(tmp_path: Path) -> Callable[..., Any]:
    """Run `harness` with arguments; return the exit code and stdout as JSON or text."""
    environment = {**os.environ, "HARNESS_HOME": str(tmp_path / "home")}

    def call(*arguments: str) -> tuple[int, Any]:
        command = [str(Path(sysconfig.get_path("scripts")) / "harness"), *arguments]
        found = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
        )
        try:
            return found.returncode, json.loads(found.stdout)
        except ValueError:
            return found.returncode, found.stdout + found.stderr

    return call
