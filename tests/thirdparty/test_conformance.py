"""The conformance kit: each rule that a plugin breaks is one readable verdict."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from sciharness import testkit
from sciharness.errors import ContractError, DataError, UsageError

CARELESS = Path(__file__).parent / "plugins" / "careless"


@pytest.fixture(scope="module")
def careless() -> list[testkit.Verdict]:
    return list(testkit.check(CARELESS))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "check", "said"),
    [
        ("", "top-level imports", "numpy: import it inside the function"),
        ("loose", "description", "has no summary"),
        ("loose", "description", "silent has no help"),
        ("loose", "description", "anything takes anything"),
        ("loose", "parameters", "anything: {'no': 'such value'} is taken"),
        ("moody", "same seed, same result", "mood.txt differs"),
        ("moody", "same seed, same result", "value: 0."),
        ("deaf", "cancellation", "context.cancelled"),
        ("fragile", "odd parameters", "value=-1: crash"),
        ("forgetful", "run", "undeclared_metric"),
        ("mute", "run", "reports none of its metrics (value)"),
        ("spelled", "description", "no single line of at most 120"),
        ("spelled", "description", "the type dataset is spelled DATASET"),
        ("paid", "description", "charges gold"),
        ("flatter", "judgement", "right and wrong predictions get the same metrics"),
        ("greedy", "answer", "may only be tightened"),
        ("silent", "answer", "returns Proposal or Finish"),
    ],
)
def test_what_is_broken_is_named(
    careless: list[testkit.Verdict], operation: str, check: str, said: str
) -> None:
    (verdict,) = [one for one in careless if (one.operation, one.check) == (operation, check)]

    assert verdict.result == "failed"
    assert said in verdict.said


@pytest.mark.slow
def test_nothing_else_is_said_against_it(careless: list[testkit.Verdict]) -> None:
    failed = {(one.operation, one.check) for one in careless if not one.ok}

    assert len(failed) == 13
    assert not any("package" in check or "hook" in check for _, check in failed)


@pytest.mark.parametrize("project", ["six_hooks"])
def test_the_examples_conform(harness: Any, project: str) -> None:
    folder = Path(__file__).parents[2] / "examples" / "plugins" / project

    done = harness("plugin", "check", folder, code=0)

    lines = done.out.splitlines()
    assert len(lines) > 20
    assert all(line.startswith(("ok", "skipped")) for line in lines)


def test_only_an_admitted_plugin_is_checked_by_its_id(bare: Any) -> None:
    refused = bare("plugin", "check", "example.six", code=7)
    bare("plugin", "admit", "example.six", code=0)

    assert "is installed but not admitted" in refused.err
    assert bare("plugin", "check", "example.six", "--json", code=0).json["ok"] is True


def write(folder: Path, module: str, *, name: str = "small", extra: str = "") -> Path:
    """Write a project of one module."""
    folder.mkdir()
    (folder / f"{name}.py").write_text(f'"""A plugin."""\n{module}\n', "utf-8")
    (folder / "pyproject.toml").write_text(
        "[build-system]\nrequires = ['flit_core']\nbuild-backend = 'flit_core.buildapi'\n"
        f"[project]\nname = '{name}'\nversion = '1.0'\ndescription = 'x'\n{extra}"
        f"[project.entry-points.'sciharness.plugins']\n{name} = '{name}'\n",
        "utf-8",
    )
    return folder


@pytest.mark.parametrize(
    ("module", "check", "said"),
    [
        ("import no_such_library", "import", "no_such_library"),
        ("x = (", "import", "was never closed"),
        ("HOOK_API = 2", "hook API", "written for 2, this kernel has 1"),
        ("x = 1", "hooks", "@hookimpl"),
    ],
    ids=["import fails", "syntax error", "another number", "nothing registered"],
)
def test_a_plugin_that_does_not_load_is_a_verdict(
    tmp_path: Path, module: str, check: str, said: str
) -> None:
    verdicts = list(testkit.check(write(tmp_path / "small", module)))

    failed = {one.check: one.said for one in verdicts if not one.ok}
    assert said in failed[check]


def test_a_project_without_a_plugin_is_a_usage_error(tmp_path: Path) -> None:
    project = write(tmp_path / "small", "x = 1")
    settings = project / "pyproject.toml"
    settings.write_text(settings.read_text("utf-8").replace("sciharness.plugins", "other"))

    with pytest.raises(UsageError, match="expected one plugin"):
        list(testkit.check(project))
    with pytest.raises(UsageError, match=r"no pyproject\.toml"):
        list(testkit.check(tmp_path))


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("- count", ContractError, "expected a mapping"),
        ("count: {wiht: {}}", ContractError, "`with` and `inputs`"),
        ("count: {inputs: {data: there.csv}}", ContractError, "at least `path`"),
        ("count: {inputs: {data: {path: nowhere.csv}}}", DataError, "nowhere.csv"),
    ],
)
def test_examples_that_are_none_are_refused(
    tmp_path: Path, text: str, error: type[Exception], said: str
) -> None:
    project = write(tmp_path / "small", "x = 1")
    (project / "conformance.yaml").write_text(text, "utf-8")

    with pytest.raises(error, match=said):
        list(testkit.check(project))


NEEDY = """
from attrs import field, frozen
from sciharness import Capability, InputSpec, Outcome, hookimpl

@frozen
class Request:
    word: str = field(metadata={"help": "the word"})

def look(request, context):
    text = context.inputs["ring"].path.read_text("utf-8")
    if request.word not in text:
        raise ValueError(f"no {request.word}")
    return Outcome({"length": float(len(text))})

@hookimpl
def harness_capabilities():
    return [Capability("look", look, Request, "Looks.", "analysis",
                       (InputSpec("ring", ("lattice",)),), metrics=("length",))]
"""


@pytest.mark.slow
def test_what_the_kit_cannot_think_of_is_skipped_or_given(tmp_path: Path) -> None:
    project = write(tmp_path / "small", NEEDY)
    (skipped,) = [one for one in testkit.check(project) if one.result == "skipped"]
    (project / "ring.txt").write_text("a ring of magnets", "utf-8")
    (project / "conformance.yaml").write_text(
        "look: {with: {word: ring}, inputs: {ring: {path: ring.txt}}}", "utf-8"
    )

    given = {one.check: one for one in testkit.check(project)}

    assert "no sample for the input ring (lattice)" in skipped.said
    assert "conformance.yaml" in skipped.said
    assert (given["run"].result, given["run"].said) == ("ok", "length=17")


def test_checking_leaves_the_project_as_it_was(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(CARELESS, project, ignore=shutil.ignore_patterns("__pycache__"))

    next(iter(testkit.check(project)))

    assert sorted(path.name for path in project.rglob("*")) == ["careless.py", "pyproject.toml"]
