from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sciharness.contract.records import ContractInput, Holdout
from sciharness.tables import CheckedTable, Prepared, check_table, prepare_labelled


@pytest.fixture
def table(tmp_path: Path) -> Callable[[str | bytes], Path]:
    """Write a table file and return its path."""

    def write(content: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def check() -> Callable[..., CheckedTable]:
    """Check a table as a labelled one, by default with the default split."""

    def run(path: Path, holdout: Holdout | None = None, **fields: Any) -> CheckedTable:
        fields.setdefault("role", "labelled_table")
        return check_table(path, ContractInput("data", path.name, **fields), holdout or Holdout())

    return run


@pytest.fixture
def prepare(tmp_path: Path) -> Callable[..., Prepared]:
    """Prepare a table into a new folder."""

    def run(path: Path, holdout: Holdout | None = None, **fields: Any) -> Prepared:
        out = tmp_path / f"out{len(list(tmp_path.glob('out*')))}"
        out.mkdir()
        fields.setdefault("role", "labelled_table")
        spec = ContractInput("data", path.name, **fields)
        return prepare_labelled(path, spec, holdout or Holdout(), out)

    return run
