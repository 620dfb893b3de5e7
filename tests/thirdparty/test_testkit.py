"""The test kit from an author's tests: here, and in a real worker."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sciharness import Finish, Launch, Proposal, Review, testkit
from sciharness.errors import DataError, PluginError, RequestError
from sciharness.testkit.samples import sample_package, sample_program, sample_view
from sciharness.workers.pool import ActionFailed

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins" / "six_hooks"
TABLE = {"a": [1.0, 2.0, 3.0, 4.0], "y": [10.0, 20.0, 30.0, 50.0]}


@pytest.fixture(scope="module")
def plugin() -> Iterator[ModuleType]:
    sys.path.insert(0, str(EXAMPLE / "src"))
    try:
        yield importlib.import_module("example_six_hooks.plugin")
    finally:
        sys.path.remove(str(EXAMPLE / "src"))


@pytest.fixture(scope="module")
def bench() -> Iterator[testkit.Bench]:
    with testkit.Bench.of(EXAMPLE) as made:
        yield made


def test_an_operation_runs_here_and_in_a_worker_alike(
    plugin: ModuleType, bench: testkit.Bench, tmp_path: Path
) -> None:
    data = testkit.table(tmp_path, TABLE, target="y")

    here = testkit.run_here(plugin, "spread", {"trim": 0.0}, {"data": data}, tmp_path)
    there = bench.run("spread", {"trim": 0.0}, {"data": data})

    assert here.metrics == there.metrics == {"spread": 40.0}
    assert here.notes == there.notes == ("the target lies in 10 to 50",)
    texts = [one.artifacts["spread.txt"].read_text("utf-8") for one in (here, there)]
    assert texts == ["10.0 to 50.0\n"] * 2


def test_roles_are_asked_here_and_in_a_worker_alike(
    plugin: ModuleType, bench: testkit.Bench, tmp_path: Path
) -> None:
    options = {"capability": "a.b", "parameter": "x", "values": [3]}
    view, program, package = sample_view(), sample_program(), sample_package(tmp_path)
    asked: list[tuple[str, dict[str, Any], Any]] = [
        ("sweep", options, view),
        ("gentle", {"niceness": 4}, program),
    ]

    for name, values, subject in asked:
        here = testkit.ask_here(plugin, name, values, subject, tmp_path)
        assert here == bench.ask(name, values, subject)
    review = testkit.ask_here(plugin, "plain_files", {}, package, tmp_path)

    assert review == Review(accepted=True)
    assert testkit.ask_here(plugin, "sweep", options, view, tmp_path) == Proposal(
        "a.b", {"data": "data"}, {"x": 3}, "value 1 of 1"
    )
    assert testkit.ask_here(plugin, "sweep", {**options, "values": []}, view, tmp_path) == Finish(
        "every value was tried"
    )
    gentle = testkit.ask_here(plugin, "gentle", {"niceness": 4}, program, tmp_path)
    assert gentle == Launch(("nice", "-n", "4"), wall_seconds=600.0)


def test_parameters_are_refused_as_a_run_refuses_them(
    plugin: ModuleType, bench: testkit.Bench, tmp_path: Path
) -> None:
    data = testkit.table(tmp_path, TABLE, target="y")

    with pytest.raises(RequestError, match=r"trim.*<= 0\.4"):
        testkit.run_here(plugin, "spread", {"trim": 0.9}, {"data": data}, tmp_path)
    with pytest.raises(ActionFailed, match=r"trim.*<= 0\.4") as caught:
        bench.run("spread", {"trim": 0.9}, {"data": data})

    assert caught.value.reason == "request"


def test_what_does_not_exist_is_named(plugin: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="registers no 'spred', but spread, within"):
        testkit.run_here(plugin, "spred", {}, {}, tmp_path)
    with pytest.raises(PluginError, match="use ask_here"):
        testkit.run_here(plugin, "sweep", {}, {}, tmp_path)
    with pytest.raises(PluginError, match="use run_here"):
        testkit.ask_here(plugin, "spread", {}, sample_view(), tmp_path)


def test_a_table_that_a_contract_would_refuse_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        testkit.table(tmp_path, {"a": [1.0, ""], "y": [1.0, 2.0]}, target="y")


UNDECLARED = """
from sciharness import Capability, Outcome, hookimpl
from sciharness.roles import NoOptions

def work(request, context):
    context.charge(solver_calls=2)
    context.progress(0.5, "half")
    context.output("never.txt", "OTHER")
    return Outcome()

@hookimpl
def harness_capabilities():
    return [Capability("work", work, NoOptions, "Works.", "analysis", metrics=("value",))]
"""


def test_a_promise_that_is_not_kept_fails_here_too(tmp_path: Path) -> None:
    module = ModuleType("undeclared")
    exec(UNDECLARED, module.__dict__)

    with pytest.raises(ActionFailed, match=r"not written: never\.txt") as caught:
        testkit.run_here(module, "work", {}, {}, tmp_path)

    assert caught.value.reason == "missing_result"
