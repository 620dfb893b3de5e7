"""A new plugin project: one capability of about thirty lines, with tests, README and metadata."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from sciharness import __version__
from sciharness.errors import UsageError
from sciharness_catalog.pins import PLUGIN_ID

_PROJECT = """[build-system]
requires = ["flit_core >=3.11,<5"]
build-backend = "flit_core.buildapi"

[project]
name = "@DISTRIBUTION@"
version = "0.1.0"
description = "A capability for sciharness: counts the rows of a table"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["sciharness >=@KERNEL@"]

[project.optional-dependencies]
test = ["pytest >=8"]

[project.entry-points."sciharness.plugins"]
"@ID@" = "@PACKAGE@.plugin"

[tool.flit.module]
name = "@PACKAGE@"

[tool.pytest.ini_options]
pythonpath = ["src"]
"""

_PACKAGE = '''"""Counts the rows of a table."""
'''

_PLUGIN = '''"""A capability that counts the visible rows of a table."""

from attrs import field, frozen
from attrs.validators import ge

from sciharness import Capability, Context, InputSpec, Outcome, hookimpl, read_table

HOOK_API = 1


@frozen
class CountRequest:
    """Parameters of the count."""

    at_least: int = field(default=1, validator=ge(1), metadata={"help": "rows expected"})


def count(request: CountRequest, context: Context) -> Outcome:
    """Return the number of rows, with a note when there are fewer than expected."""
    rows = len(read_table(context.inputs["data"]).X)
    enough = rows >= request.at_least
    return Outcome({"rows": float(rows)}, () if enough else (f"only {rows} rows",))


@hookimpl
def harness_capabilities() -> list[Capability]:
    """Return what a contract may lease."""
    data = InputSpec("data", ("labelled_table",), summary="the table to count")
    return [
        Capability(
            operation="count",
            run=count,
            request=CountRequest,
            summary="Counts the visible rows of a table.",
            group="analysis",
            inputs=(data,),
            metrics=("rows",),
        )
    ]
'''

_TEST = """from pathlib import Path

import pytest
from @PACKAGE@ import plugin

from sciharness import testkit

PROJECT = Path(__file__).parents[1]
TABLE = {"a": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]}


def test_rows_are_counted(tmp_path: Path) -> None:
    data = testkit.table(tmp_path, TABLE, target="y")

    tried = testkit.run_here(plugin, "count", {}, {"data": data}, tmp_path)

    assert tried.metrics == {"rows": 3.0}
    assert tried.notes == ()


def test_too_few_rows_are_noted(tmp_path: Path) -> None:
    data = testkit.table(tmp_path, TABLE, target="y")

    tried = testkit.run_here(plugin, "count", {"at_least": 9}, {"data": data}, tmp_path)

    assert tried.notes == ("only 3 rows",)


@pytest.fixture(scope="module")
def verdicts() -> list[testkit.Verdict]:
    return list(testkit.check(PROJECT))


def test_the_plugin_conforms(verdicts: list[testkit.Verdict]) -> None:
    assert [str(one) for one in verdicts if not one.ok] == []
"""

_README = """# @DISTRIBUTION@

A plugin for sciharness with the ID `@ID@`. It has one capability, `@ID@.count`.

    pip install .                       # it shows as "installed" now, and nothing of it is imported
    harness plugin admit @ID@   # pins exactly these bytes; any later change is refused
    harness call @ID@.count --input data=table.csv

In a contract: `capabilities: [@ID@.count]`.

While you work on it:

    harness plugin check .              # the conformance kit, in real workers
    pip install .[test] && pytest

`src/@PACKAGE@/plugin.py` is the whole plugin. Parameters are the fields of the attrs class; what a
field may hold is its type and its validators, what it means is `metadata={"help": ...}`. Heavy
libraries are imported inside the function that uses them. Example inputs that `check` cannot think
of itself stand in `conformance.yaml`:

    count:
      with: {at_least: 3}
      inputs:
        data: {path: tests/data.csv, target: y}
"""


def project_files(plugin_id: str) -> Mapping[str, str]:
    """Return the files of a new plugin project by their paths in it.

    Raises:
        UsageError: the name is no plugin ID, is kept for others, or its import
            name is taken.
    """
    package = _package_of(plugin_id)
    words = {
        "@ID@": plugin_id,
        "@PACKAGE@": package,
        "@DISTRIBUTION@": package.replace("_", "-"),
        "@KERNEL@": __version__,
    }
    texts = {
        "pyproject.toml": _PROJECT,
        "README.md": _README,
        f"src/{package}/__init__.py": _PACKAGE,
        f"src/{package}/plugin.py": _PLUGIN,
        f"tests/test_{package}.py": _TEST,
    }
    return {path: _filled(text, words) for path, text in texts.items()}


def write_project(plugin_id: str, out: Path) -> tuple[str, ...]:
    """Write a new plugin project into a folder that is not there or empty; return its paths.

    Raises:
        UsageError: as :func:`project_files`, or something is there already.
    """
    files = project_files(plugin_id)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(
            "is there already", where=str(out), hint="Choose an empty or new folder with --out."
        )
    for relative, text in files.items():
        path = out / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tuple(files)


def default_folder(plugin_id: str) -> Path:
    """Return where a new project goes by default: a folder named like its distribution."""
    return Path(plugin_id.replace(".", "-").replace("_", "-"))


def _package_of(plugin_id: str) -> str:
    if re.fullmatch(PLUGIN_ID, plugin_id) is None:
        raise UsageError(
            "is no plugin ID",
            where=plugin_id,
            hint="Lower-case words joined by underscores, with dots after an owner: acme.rows.",
        )
    if plugin_id.partition(".")[0] == "runtime":
        raise UsageError("is kept for first-party plugins", where=plugin_id)
    package = plugin_id.replace(".", "_")
    known = package in sys.stdlib_module_names or keyword.iskeyword(package)
    if known or importlib.util.find_spec(package) is not None:
        raise UsageError(
            f"the import name {package!r} is taken here",
            where=plugin_id,
            hint="Put an owner in front: yours.NAME.",
        )
    return package


def _filled(text: str, words: Mapping[str, str]) -> str:
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text
