"""A context to run programs in, without a kernel around it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sciharness import Context, Input, Outcome
from sciharness_program_runner.requests import RunRequest
from sciharness_program_runner.running import run


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Outcome]:
    """Run a source with inputs (name to text) and request fields; outputs lie in ``out``."""

    def started(source: str, inputs: dict[str, str] | None = None, **fields: Any) -> Outcome:
        given = {"program": source, **(inputs or {})}
        placed = {}
        for name, text in given.items():
            path = tmp_path / "inputs" / name / ("p.py" if name == "program" else "file.txt")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            placed[name] = Input(name, path, "source.python" if name == "program" else "OTHER")
        launch = fields.pop("launch", None)
        emit = fields.pop("emit", lambda message: None)
        work = tmp_path / "work"
        work.mkdir()
        context = Context(inputs=placed, workspace=work, launch=launch, emit=emit)
        return run(RunRequest(**fields), context)

    return started


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where the outputs of :func:`start` lie."""
    return tmp_path / "work" / "outputs"
