"""A contract's reference solver: its folder and its `solver:` block are checked before a run."""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sciharness.contract._solver import check_call, check_solver
from sciharness.contract.findings import Findings
from sciharness.contract.records import ContractInput

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks for ELF")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A solver's folder with a native program, a script, its source and a README."""
    place = tmp_path / "solver"
    (place / "bin").mkdir(parents=True)
    found = shutil.which("cat")
    assert found is not None
    shutil.copy(found, place / "bin" / "solve")
    (place / "run.py").write_text("print('never run')\n")
    (place / "solve.c").write_text("int main(void) { return 0; }\n")
    (place / "README.md").write_text("Call it.\n")
    return place


def said(folder: Path, solver: dict[str, Any] | None = None) -> tuple[str, list[str]]:
    """Return the type of a folder and what is said against it."""
    findings = Findings()
    item = ContractInput("solver", folder.name, "reference_solver", solver=solver)
    facts = check_solver(item, folder, ("inputs", 0), findings)
    return facts.type if facts is not None else "", [
        f"{one.path}: {one.found} | {one.expected}" for one in findings.problems
    ]


@pytest.mark.parametrize("executable", ["bin/solve", "run.py"])
def test_a_folder_with_a_program_that_starts_here_is_a_solver_bundle(
    folder: Path, executable: str
) -> None:
    assert said(folder, {"executable": executable}) == ("solver_bundle", [])


@pytest.mark.parametrize(
    ("executable", "reason"),
    [
        ("bin/sovle", "the path of a file in the folder"),
        ("../solver/run.py", "the path of a file in the folder"),
        ("/bin/cat", "the path of a file in the folder"),
        ("solve.c", "neither a native program nor a script"),
    ],
)
def test_what_cannot_be_started_is_no_executable(
    folder: Path, executable: str, reason: str
) -> None:
    kind, problems = said(folder, {"executable": executable})
    assert kind == ""
    assert len(problems) == 1 and "inputs[0].solver.executable" in problems[0]
    assert reason in problems[0]


@on_linux
def test_a_program_for_another_machine_is_told(folder: Path) -> None:
    content = bytearray((folder / "bin" / "solve").read_bytes())
    content[18:20] = (8).to_bytes(2, "little")  # e_machine: MIPS
    (folder / "bin" / "solve").write_bytes(content)
    assert "an elf executable for mips" in said(folder, {"executable": "bin/solve"})[1][0]


@pytest.mark.parametrize(
    "manifest",
    ["x-1.dist-info/METADATA", "plugin.json", "tools/pyproject.toml"],
)
def test_a_package_of_this_system_is_no_solver(folder: Path, manifest: str) -> None:
    (folder / manifest).parent.mkdir(exist_ok=True)
    (folder / manifest).write_text('[project.entry-points."sciharness.plugins"]\n')
    kind, problems = said(folder, {"executable": "run.py"})
    assert kind == ""
    assert manifest in problems[0]


def test_a_project_file_that_names_no_plugin_is_welcome(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[project]\nname = 'solver'\n")
    assert said(folder, {"executable": "run.py"})[0] == "solver_bundle"


def test_links_are_named(folder: Path) -> None:
    os.symlink("/etc/passwd", folder / "bin" / "data")
    assert "bin/data is a link" in said(folder, {"executable": "run.py"})[1][0]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            ["{executable}", "{in}", "{output}"],
            "only {executable}, {input}, {output}, {python} in braces",
        ),
        (["{input}", "{output}"], "the word {executable} once"),
        (["{executable}", "{executable}"], "the word {executable} once"),
        (["x{executable}"], "the word {executable} once"),
    ],
)
def test_a_command_names_the_program_once_and_knows_its_fields(
    command: list[str], expected: str
) -> None:
    findings = Findings()
    check_call({"executable": "x", "command": command}, ("solver",), findings)
    assert [one.expected for one in findings.problems] == [expected]


def test_a_column_is_input_or_output() -> None:
    findings = Findings()
    table = {"inputs": ["a", "b"], "outputs": ["b"]}
    check_call({"executable": "x", "table": table}, ("solver",), findings)
    assert [one.path for one in findings.problems] == ["solver.table.outputs"]


def test_a_zip_without_a_flaw_is_taken_for_its_folder(folder: Path, tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "solver"), "zip", folder))
    assert said(archive, {"executable": "run.py"}) == ("solver_bundle", [])
    assert "neither a native" in said(archive, {"executable": "solve.c"})[1][0]


@pytest.mark.parametrize(
    ("suffix", "rule"), [(b"more", "structure"), (b"", "link")], ids=["suffix", "link"]
)
def test_a_zip_with_a_flaw_is_refused_by_its_rule(
    folder: Path, tmp_path: Path, suffix: bytes, rule: str
) -> None:
    path = tmp_path / "flawed.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(folder / "run.py", "run.py")
        link = zipfile.ZipInfo("data")
        link.external_attr = (0o120777 if rule == "link" else 0o100644) << 16
        archive.writestr(link, "/etc/passwd")
    path.write_bytes(path.read_bytes() + suffix)
    kind, problems = said(path, {"executable": "run.py"})
    assert kind == ""
    assert f"(rule: {rule})" in problems[0]
