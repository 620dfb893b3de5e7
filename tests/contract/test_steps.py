from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from survival import SURVIVAL

from sciharness.contract.document import parse_document
from sciharness.contract.findings import Findings
from sciharness.contract.read import examine_document
from sciharness.contract.steps import Binding, Plan, plan_steps
from sciharness.descriptors import Operation
from sciharness.plugin import InputSpec, OutputSpec

Planner = Callable[..., tuple[Plan, str]]

VERIFY = "workflow: {hypothesis_verification: true}\n"


@pytest.fixture
def plan(operations: dict[str, Operation]) -> Planner:
    """Plan of a contract text, and its problems as one text."""

    def run(text: str, **changes: Any) -> tuple[Plan, str]:
        document = parse_document(text, "contract.yaml")
        reading = examine_document(document)
        assert reading.contract is not None, reading.problems
        known = {**operations, **changes.get("operations", {})}
        leased = {name: known[name] for name in reading.contract.capabilities if name in known}
        findings = Findings(document)
        found = plan_steps(reading.contract, leased, findings)
        return found, "\n".join(map(str, findings.problems))

    return run


def bindings(plan: Plan, step_id: str) -> dict[str, Binding]:
    return dict(next(step for step in plan.steps if step.id == step_id).bindings)


def test_derived_steps_follow_the_groups_and_end_with_the_report(base: str, plan: Planner) -> None:
    text = base.replace(
        "[symbolic_regression.search, evaluation.regression, reporting.write]",
        "[reporting.write, evaluation.regression, symbolic_regression.search, tabular.describe]",
    )

    found, problems = plan(text)

    assert problems == ""
    assert found.complete
    assert [(step.id, step.operation, step.kind) for step in found.steps] == [
        ("describe", "tabular.describe", "capability"),
        ("search", "symbolic_regression.search", "capability"),
        ("regression", "evaluation.regression", "final_evaluation"),
        ("write", "reporting.write", "report"),
    ]


def test_derived_inputs_are_bound_by_type_with_the_rows_they_may_see(
    base: str, plan: Planner
) -> None:
    found, _ = plan(base)

    assert bindings(found, "search") == {"data": Binding("input", "data", None, "train")}
    assert bindings(found, "regression") == {
        "predictor": Binding("step", "search"),
        "data": Binding("input", "data", None, "final"),
    }


def test_without_a_holdout_everything_is_visible_and_nothing_final(
    base: str, plan: Planner
) -> None:
    found, _ = plan(base + "holdout: none\n")

    assert bindings(found, "search")["data"].view == "whole"
    assert found.steps[1].kind == "visible_evaluation"


def test_verification_runs_only_when_it_is_switched_on(base: str, plan: Planner) -> None:
    text = base.replace("reporting.write]", "verification.refit, reporting.write]")

    off, _ = plan(text)
    on, _ = plan(text + VERIFY)
    apart, _ = plan(text + VERIFY + "holdout: {verification: 0.2}\n")

    assert [step.id for step in off.steps] == ["search", "regression", "write"]
    assert [step.id for step in on.steps] == ["search", "regression", "refit", "write"]
    assert bindings(on, "refit")["data"].view == "train"
    assert bindings(apart, "refit") == {
        "data": Binding("input", "data", None, "verification"),
        "formulas": Binding("step", "search", "formulas.json"),
    }


def test_a_step_name_that_is_taken_by_an_input_gets_a_number(base: str, plan: Planner) -> None:
    found, _ = plan(base.replace("name: data", "name: search"))

    assert [step.id for step in found.steps] == ["search_2", "regression", "write"]


def test_two_candidates_are_never_chosen_between(base: str, plan: Planner) -> None:
    second = "  - {name: more, path: more.csv, role: labelled_table}\ncapabilities"

    found, problems = plan(base.replace("capabilities", second, 1))

    assert not found.complete
    assert "capabilities[0]: expected one labelled_table or DATASET for `data`" in problems
    assert "2 candidates for symbolic_regression.search: `data`, `more`" in problems
    assert "Write `steps`" in problems


def test_two_predictors_for_one_evaluator_ask_for_steps(
    base: str, plan: Planner, operations: dict[str, Operation]
) -> None:
    other = evolve(operations["symbolic_regression.search"], plugin_id="tabular", operation="train")
    text = base.replace("evaluation.regression", "tabular.train, evaluation.regression")

    _, problems = plan(text, operations={"tabular.train": other})

    assert "2 candidates for evaluation.regression: `search`, `train`" in problems


def test_an_input_that_nothing_gives_is_a_problem_told_once(base: str, plan: Planner) -> None:
    lattice = "path: ring.txt, role: lattice"

    _, problems = plan(
        base.replace("path: pendulum.csv, role: labelled_table, target: period", lattice)
    )

    assert "nothing that symbolic_regression.search could take" in problems
    assert "evaluation" not in problems


def test_an_evaluator_of_another_task_finds_no_table(base: str, plan: Planner) -> None:
    _, problems = plan(base.replace("evaluation.regression", "evaluation.classification"))

    assert "one labelled_table of task classification" in problems


def test_a_domain_experiment_feeds_the_training(base: str, plan: Planner) -> None:
    text = base.replace(
        "{name: data, path: pendulum.csv, role: labelled_table, target: period}",
        "{name: ring, path: ring.json, role: lattice}",
    ).replace("evaluation.regression", "beam.generate")

    found, problems = plan(text)

    assert problems == ""
    assert [step.id for step in found.steps] == ["generate", "search", "write"]
    assert bindings(found, "search") == {"data": Binding("step", "generate", "points.csv")}


def test_generated_final_data_asks_for_steps(plan: Planner) -> None:
    _, problems = plan(SURVIVAL[: SURVIVAL.index("steps:")])

    assert "holdout.generated_by" in problems
    assert "Write `steps`" in problems


def test_explicit_steps_are_the_whole_list_and_the_report_is_added(
    base: str, steps: str, plan: Planner
) -> None:
    found, problems = plan(base + steps)

    assert problems == ""
    assert [(step.id, step.kind) for step in found.steps] == [
        ("fit", "capability"),
        ("judge", "final_evaluation"),
        ("report", "report"),
    ]
    assert found.steps[0].params == {"max_evaluations": 50}
    assert found.steps[1].step_bindings() == (Binding("step", "fit"),)


def test_a_report_step_of_the_contract_is_not_added_again(
    base: str, steps: str, plan: Planner
) -> None:
    found, _ = plan(base + steps.replace("steps:\n", "steps:\n  - {id: r, use: reporting.write}\n"))

    assert [step.id for step in found.steps] == ["fit", "judge", "r"]


def test_visible_rows_are_judged_without_freezing(base: str, steps: str, plan: Planner) -> None:
    found, problems = plan(base + steps.replace("data: data}}", "data: data.train}}"))

    assert problems == ""
    assert found.steps[1].kind == "visible_evaluation"
    assert bindings(found, "judge")["data"].view == "train"


def test_generated_final_data_freezes_and_is_judged(plan: Planner) -> None:
    found, problems = plan(SURVIVAL)

    assert problems == ""
    assert [step.kind for step in found.steps] == [
        "capability",
        "capability",
        "final_data",
        "final_evaluation",
    ]
    assert bindings(found, "fit")["data"] == Binding("step", "points", "points.csv")
    assert bindings(found, "final")["predictor"] == Binding("step", "fit")
    assert bindings(found, "judge")["data"] == Binding("step", "final", None, "final")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("generated_by: final", "generated_by: finale", "Did you mean `final`?"),
        ("inputs: {lattice: ring, predictor: fit}", "inputs: {lattice: ring}", "takes `predictor`"),
        ("generated_by: final", "generated_by: fit", "declares that it makes final data"),
        (
            "  - {id: judge",
            "  - {id: peek, use: symbolic_regression.search, inputs: {data: final}}\n"
            "  - {id: judge",
            "whose labels are sealed",
        ),
        (
            "  - {id: judge",
            "  - {id: fit2, use: symbolic_regression.search, inputs: {data: points}}\n"
            "  - {id: judge2, use: evaluation.classification, "
            "inputs: {predictor: fit2, data: final}}\n  - {id: judge",
            "for which `final` makes the final data",
        ),
        ("predictor: fit, data: final}", "predictor: fit, data: points}", "holdout.generated_by"),
    ],
)
def test_generated_final_data_has_its_rules(plan: Planner, old: str, new: str, said: str) -> None:
    assert old in SURVIVAL

    found, problems = plan(SURVIVAL.replace(old, new, 1))

    assert said in problems
    assert not found.complete


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{data: data}, with", "{data: dta}, with", "Did you mean `data`?"),
        ("{data: data}, with", "{daat: data}, with", "an input of symbolic_regression.search"),
        ("inputs: {data: data}, with", "with", "no input `data`"),
        ("{data: data}, with", "{data: judge}, with", "does not come before"),
        ("{data: data}, with", "{data: fit}, with", "does not come before"),
        ("{data: data}, with", "{data: data.verification}, with", "holdout.verification"),
        ("{data: data}, with", "{data: data.final}, with", "`data.train`"),
        ("predictor: fit, data", "predictor: data, data", "a step that makes a predictor"),
        ("predictor: fit, data", "predictor: fit.model.json, data", "three files"),
        ("data: data}}", "data: fit}}", "a labelled table, its `.train` rows"),
        ("data: data}}", "data: data.verification}}", "or its `.train` rows"),
        ("use: evaluation.regression", "use: evaluation.regresion", "which is not leased"),
    ],
)
def test_a_wrong_reference_is_refused_with_its_place(
    base: str, steps: str, plan: Planner, old: str, new: str, said: str
) -> None:
    assert old in steps

    found, problems = plan(base + steps.replace(old, new))

    assert said in problems
    assert "contract.yaml:1" in problems
    assert not found.complete


def test_verification_rows_are_for_verification_steps(base: str, steps: str, plan: Planner) -> None:
    text = base.replace("reporting.write", "verification.refit") + steps.replace(
        "data: data}, with", "data: data.verification}, with"
    )
    refit = (
        "  - {id: again, use: verification.refit, "
        "inputs: {data: data.verification, formulas: fit}}\n"
    )
    set_apart = "holdout: {verification: 0.2}\n" + VERIFY

    _, problems = plan(text + set_apart)
    found, none = plan(
        base.replace("reporting.write", "verification.refit") + steps + refit + set_apart
    )

    assert "only in steps of group knowledge and verification" in problems
    assert none == ""
    assert bindings(found, "again") == {
        "data": Binding("input", "data", None, "verification"),
        "formulas": Binding("step", "fit", "formulas.json"),
    }


def test_a_hypothesis_step_needs_the_switch(base: str, steps: str, plan: Planner) -> None:
    refit = "  - {id: again, use: verification.refit, inputs: {data: data, formulas: fit}}\n"
    text = base.replace("reporting.write", "verification.refit") + steps + refit

    _, off = plan(text)
    _, on = plan(text + VERIFY)

    assert "hypothesis verification switched on" in off
    assert on == ""


def test_one_artifact_of_a_step_can_be_named(
    base: str, steps: str, plan: Planner, operations: dict[str, Operation]
) -> None:
    twice = evolve(
        operations["symbolic_regression.search"],
        outputs=(
            *operations["symbolic_regression.search"].outputs,
            OutputSpec("second.json", "analysis_result"),
        ),
    )
    use = evolve(operations["tabular.describe"], inputs=(InputSpec("data", ("analysis_result",)),))
    changed = {"symbolic_regression.search": twice, "tabular.describe": use}
    text = base.replace("reporting.write", "tabular.describe") + steps

    _, unclear = plan(
        text + "  - {id: d, use: tabular.describe, inputs: {data: fit}}\n", operations=changed
    )
    _, wrong = plan(
        text + "  - {id: d, use: tabular.describe, inputs: {data: fit.model.json}}\n",
        operations=changed,
    )
    _, unknown = plan(
        text + "  - {id: d, use: tabular.describe, inputs: {data: fit.secnd.json}}\n",
        operations=changed,
    )
    found, none = plan(
        text + "  - {id: d, use: tabular.describe, inputs: {data: fit.second.json}}\n",
        operations=changed,
    )

    assert "`fit.formulas.json`, `fit.second.json`" in unclear
    assert "of type model" in wrong
    assert "Did you mean `second.json`?" in unknown
    assert none == ""
    assert bindings(found, "d") == {"data": Binding("step", "fit", "second.json")}


def test_more_predictors_than_looks_are_refused_before_the_run(
    base: str, steps: str, plan: Planner
) -> None:
    more = (
        "  - {id: fit2, use: symbolic_regression.search, inputs: {data: data}}\n"
        "  - {id: judge2, use: evaluation.regression, inputs: {predictor: fit2, data: data}}\n"
    )

    _, problems = plan(base + steps + more)
    _, allowed = plan(base + steps + more + "holdout: {max_queries: 2}\n")

    assert "final evaluations of 2 predictors on `data`" in problems
    assert allowed == ""


def test_steps_of_an_unavailable_capability_draw_no_further_problems(
    base: str, steps: str, plan: Planner
) -> None:
    found, problems = plan(
        base.replace("symbolic_regression.search", "gone.search")
        + steps.replace("symbolic_regression.search", "gone.search")
    )

    assert problems == ""
    assert not found.complete
