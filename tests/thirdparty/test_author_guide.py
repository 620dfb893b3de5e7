"""The author guide: every hook and every field is in it, and its code is that of the examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

import sciharness
from sciharness import Context, hooks
from sciharness.plugin import GROUPS
from sciharness.workers.loaded import registered

EXAMPLES = Path(__file__).parents[2] / "examples" / "plugins"
GUIDE = (EXAMPLES / "README.md").read_text("utf-8")
SECTIONS = {
    part.partition("\n")[0].strip(): part for part in re.split(r"^## ", GUIDE, flags=re.M)[1:]
}
RECORDS: dict[str, tuple[str, ...]] = {
    "harness_capabilities": (
        "Capability",
        "InputSpec",
        "OutputSpec",
        "Outcome",
        "Input",
        "Table",
    ),
    "harness_evaluators": ("Evaluator",),
    "harness_reviewers": ("Reviewer", "Package", "Review"),
    "harness_publishers": ("Publisher",),
    "harness_reasoners": ("Reasoner", "ReasonerView", "Proposal", "Finish"),
    "harness_executors": ("Executor", "Program", "Launch"),
}


def hook_names() -> list[str]:
    return sorted(name for name in vars(hooks) if name.startswith("harness_"))


def test_there_are_six_hooks_and_the_guide_is_about_all_of_them() -> None:
    assert len(hook_names()) == 6
    assert hook_names() == sorted(RECORDS)
    assert set(hook_names()) <= set(SECTIONS)


@pytest.mark.parametrize("hook", hook_names())
def test_a_hook_says_since_when_and_what_an_exception_does(hook: str) -> None:
    spec = getattr(hooks, hook).__doc__

    for text in (spec, SECTIONS[hook]):
        assert "Since" in text and "HOOK_API" in text
        assert "exception" in text


def fields() -> Iterator[tuple[str, str, str]]:
    for hook, records in RECORDS.items():
        for record in records:
            for item in attrs.fields(getattr(sciharness, record)):
                yield hook, record, item.name


@pytest.mark.parametrize(("hook", "record", "name"), list(fields()))
def test_a_field_stands_in_the_table_of_its_record(hook: str, record: str, name: str) -> None:
    found = re.search(
        rf"^\| field of `{record}` \|.*?(?=^\n|\Z)", SECTIONS[hook], flags=re.M | re.S
    )

    assert found is not None, f"no table for {record}"
    rows = [row.split("|")[1] for row in found.group().splitlines()[2:]]
    described = {word for row in rows for word in re.findall(r"`(\w+)", row)}
    named_above = {"operation", "run", "request", "summary", "inputs", "outputs"}
    assert name in described or (name in named_above and "as above" in found.group())


def test_no_table_names_what_does_not_exist() -> None:
    for hook, records in RECORDS.items():
        for record in records:
            rows = re.search(
                rf"^\| field of `{record}` \|.*?(?=^\n|\Z)", SECTIONS[hook], flags=re.M | re.S
            )
            assert rows is not None
            known = {item.name for item in attrs.fields(getattr(sciharness, record))}
            cells = [row.split("|")[1] for row in rows.group().splitlines()[2:]]
            assert {word for cell in cells for word in re.findall(r"`(\w+)", cell)} <= known


def test_everything_the_context_offers_is_described() -> None:
    own = {name for name in vars(Context) if not name.startswith("_")}
    given = set(Context(inputs={}, workspace=Path()).__dict__)
    text = SECTIONS["harness_capabilities"]

    offered = {name for name in own | given if not name.startswith("_")}
    assert [name for name in sorted(offered) if not re.search(rf"`{name}\b", text)] == []
    assert [group for group in GROUPS if f"`{group}`" not in text] == []


def blocks() -> list[tuple[str, str]]:
    return re.findall(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)^```", GUIDE, flags=re.M | re.S)


@pytest.mark.parametrize(
    ("path", "code"), blocks(), ids=lambda value: value.partition("\n")[0][:60]
)
def test_the_code_is_that_of_the_examples(path: str, code: str) -> None:
    assert (EXAMPLES / path).read_text("utf-8") == code


def test_every_module_of_the_six_hooks_stands_in_the_guide() -> None:
    shown = {path for path, _ in blocks()}
    modules = (EXAMPLES / "six_hooks" / "src" / "example_six_hooks").glob("*.py")

    wanted = {str(path.relative_to(EXAMPLES)) for path in modules if path.name != "__init__.py"}
    assert wanted <= shown


def test_each_section_shows_a_record_of_its_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES / "six_hooks" / "src"))
    from example_six_hooks import plugin

    kinds = {type(offer).__name__ for offer in registered(plugin, "example.six").values()}

    assert kinds == {records[0] for records in RECORDS.values()}
    for records in RECORDS.values():
        assert any(f"= {records[0]}(" in code for _, code in blocks())


def test_the_examples_use_public_names_only() -> None:
    allowed = {
        "sciharness",
        "sciharness.programs",
        "sciharness.testkit",
        "sciharness_publisher.predictor",
    }
    for path in EXAMPLES.glob("*/src/**/*.py"):
        used = set(re.findall(r"^\s*from (sciharness[\w.]*) import", path.read_text("utf-8"), re.M))
        assert used <= allowed, path


FIT = {"use": "toy.fit", "inputs": {"data": "data"}}


def test_all_six_work_in_one_run(harness: Any) -> None:
    harness("plugin", "admit", "example.six", "--trust-metrics", code=0)
    sweep = {
        "use": "example.six.sweep",
        "capability": "example.six.spread",
        "parameter": "trim",
        "values": [0.0, 0.1],
    }
    harness.contract(
        capabilities=["example.six.spread"],
        acceptance=[{"metric": "spread", "op": "<=", "value": 9.0}],
        reasoner=sweep,
    )
    swept = harness("run", "c.yaml", "--json", code=0).json
    judge = {"predictor": "fit", "data": "data"}
    harness.contract(
        "d.yaml",
        capabilities=["toy.fit", "example.six.within"],
        acceptance=[{"metric": "share_within", "op": ">=", "value": 0.5, "trusted": True}],
        steps=[
            {"id": "fit", **FIT},
            {"id": "look", "use": "example.six.within", "inputs": {**judge, "data": "data.train"}},
            {"id": "judge", "use": "example.six.within", "inputs": judge},
        ],
        executor={"use": "example.six.gentle"},
        deliver=["model_sheet"],
        permissions={"publish_plugins": True},
        publish={"id": "acme.sheet"},
    )
    judged = harness("run", "d.yaml", "--json", code=0).json

    assert [one["name"] for one in swept["metrics"]] == ["spread", "spread"]
    assert {one["source"] for one in judged["metrics"] if one["name"] == "share_within"} == {
        "reported",
        "trusted",
    }
    (sheet,) = judged["documents"]
    assert sheet["review"]["reviews"][0]["reviewer"].startswith("example.six 1.0.0 plain_files")
    assert harness.events("ProgramLaunched", judged["run_id"]) != []
