from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, field, frozen
from survival import SURVIVAL

from sciharness.contract.preflight import Preflight
from sciharness.descriptors import Operation
from sciharness.errors import ContractError, IntegrityError
from sciharness.problems import Problem
from sciharness.tables import check_table

Look = Callable[..., Preflight]


def said(found: Preflight) -> str:
    return "\n".join(map(str, found.problems))


def warned(found: Preflight) -> str:
    return "\n".join(map(str, found.warnings))


@frozen
class Checked:
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    facts: dict[str, Any] = field(factory=dict)


def test_a_sound_contract_passes_with_steps_and_input_facts(base: str, look: Look) -> None:
    found = look(base)

    assert found.problems == ()
    assert found.warnings == ()
    assert found.ok
    assert [step.id for step in found.steps] == ["search", "regression", "write"]
    assert found.inputs[0].to_dict() == {
        "name": "data",
        "type": "DATASET",
        "bytes": found.inputs[0].bytes,
        "sha256": found.inputs[0].sha256,
    }
    assert len(found.inputs[0].sha256) == 64


def test_problems_of_reading_and_of_preflight_come_together(base: str, look: Look) -> None:
    text = base.replace("title: Pendulum period law", "title: 7").replace(
        "metric: relative_rmse", "metric: relativ_rmse"
    )

    found = look(text.replace("pendulum.csv", "pendulun.csv"))

    assert [problem.path for problem in found.problems] == [
        "title",
        "inputs[0].path",
        "acceptance[0].metric",
    ]
    assert "Did you mean `pendulum.csv`?" in said(found)
    assert "Did you mean `relative_rmse`?" in said(found)
    assert [problem.line for problem in found.problems] == [2, 5, 8]


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (
            ContractError("not installed", hint="Run `pip install sciharness-evaluation`."),
            "contract",
            "pip install sciharness-evaluation",
        ),
        (
            IntegrityError("digest differs", hint="Run `harness plugin admit evaluation`."),
            "integrity",
            "harness plugin admit evaluation",
        ),
    ],
)
def test_an_unavailable_capability_says_why_and_nothing_follows_from_it(
    base: str, look: Look, error: Any, kind: str, text: str
) -> None:
    missing = "evaluation.regression"

    found = look(base, without=(missing,), unavailable={missing: error})

    assert [(problem.kind, problem.path) for problem in found.problems] == [
        (kind, "capabilities[1]")
    ]
    assert text in said(found)
    assert missing in said(found)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("metric: relative_rmse", "metric: r_2", "Did you mean `r2`?"),
        (
            "metric: relative_rmse",
            "metric: train_r2",
            "train_r2 of symbolic_regression.search, which is no evaluator",
        ),
        ("seed: 0", "seed: 0\nholdout: none", "holdout none, which seals no labels"),
        ("role: labelled_table, target: period", "role: table", "without an input of role"),
        (
            "acceptance:",
            "constraints: {evaluation.regresion: []}\nacceptance:",
            "Did you mean `evaluation.regression`?",
        ),
        (
            "acceptance:",
            "constraints: {symbolic_regression.search: [{when: {los: mae}, require: {}}]}\n"
            "acceptance:",
            "los",
        ),
        (
            "acceptance:",
            "constraints: {symbolic_regression.search: "
            "[{when: {}, require: {max_evaluations: 0}}]}\nacceptance:",
            "max_evaluations",
        ),
        (
            "acceptance:",
            "constraints: {symbolic_regression.search: "
            "[{when: {loss: mse}, require: {max_evaluations: 9}}]}\nacceptance:",
            "max_evaluations has to be 9, got 1000",
        ),
        ("seed: 0", "deliver: [predictor_plugin]", "the permission publish_plugins"),
        ("seed: 0", "executor: cluster", "an installed executor"),
        ("seed: 0", "reasoner: {use: recipee}", "Did you mean `recipe`?"),
        ("seed: 0", "workflow: {required_artifacts: [sientific_report]}", "scientific_report"),
        ("seed: 0", "workflow: {required_artifacts: [benchmark_result]}", "which no step makes"),
        (
            "seed: 0",
            "workflow: {required_artifacts: [hypothesis]}",
            "hypothesis verification switched on",
        ),
        ("evaluation.regression, ", "", "which is no evaluator|a leased capability reports"),
    ],
)
def test_what_could_never_work_is_refused_before_the_run(
    base: str, look: Look, old: str, new: str, expected: str
) -> None:
    text = base + "seed: 0\n"
    assert old in text

    found = look(text.replace(old, new, 1))

    assert not found.ok
    assert any(part in said(found) for part in expected.split("|"))


def test_an_evaluator_without_the_grant_is_no_trusted_producer(
    base: str, look: Look, leases: Callable[..., dict[str, Any]]
) -> None:
    found = look(base, leases=leases(trusted_metrics=frozenset()))

    assert "not trusted by this installation" in said(found)
    assert "harness plugin admit evaluation --trust-metrics" in said(found)


def test_a_reported_criterion_needs_no_trust(
    base: str, look: Look, leases: Callable[..., dict[str, Any]]
) -> None:
    text = base.replace(", trusted: true", "")

    assert look(text, leases=leases(trusted_metrics=frozenset())).ok
    assert look(text + "holdout: none\n").ok


def test_judging_visible_rows_gives_no_trusted_value(base: str, steps: str, look: Look) -> None:
    found = look(base + steps.replace("data: data}}", "data: data.train}}"))

    assert "no step judges it on the final rows" in said(found)


def test_a_metric_that_no_step_produces_is_refused(base: str, steps: str, look: Look) -> None:
    text = base.replace(", trusted: true", "") + steps[: steps.index("  - {id: judge")]

    assert "which no step produces" in said(look(text))


def test_labels_are_computed_only_by_whom_this_installation_trusts(
    look: Look, folder: Path, leases: Callable[..., dict[str, Any]]
) -> None:
    (folder / "ring.json").write_text("{}")
    trusting = leases()
    doubting = {name: evolve(lease, trusted_labels=False) for name, lease in trusting.items()}

    assert look(SURVIVAL, leases=trusting).ok
    assert "harness plugin admit beam --trust-labels" in said(look(SURVIVAL, leases=doubting))


@pytest.mark.parametrize(
    ("params", "path", "expected"),
    [
        ("{max_evaluations: 0}", "with.max_evaluations", ">= 1"),
        ("{max_evaluations: 2.5}", "with.max_evaluations", "an integer"),
        ("{max_evaluation: 5}", "with.max_evaluation", "max_evaluations"),
        ("{loss: msa}", "with.loss", "mse"),
        ("{time_limit: 0}", "with.time_limit", ""),
    ],
)
def test_a_request_is_checked_by_its_schema(
    base: str, steps: str, look: Look, params: str, path: str, expected: str
) -> None:
    found = look(base + steps.replace("{max_evaluations: 50}", params))

    assert [problem.path for problem in found.problems] == [f"steps[0].{path}"]
    assert (found.problems[0].kind, found.problems[0].line) == ("request", 10)
    assert expected in said(found)


def test_common_fields_are_known_to_every_operation(base: str, steps: str, look: Look) -> None:
    assert look(base + steps.replace("50}", "50, seed: 3, workers: 2, time_limit: 9.5}")).ok


def test_a_derived_step_with_required_parameters_asks_for_steps(base: str, look: Look) -> None:
    text = base.replace(
        "path: pendulum.csv, role: labelled_table, target: period",
        "path: pendulum.csv, role: lattice",
    )
    text = text.replace("symbolic_regression.search, evaluation.regression", "beam.generate")
    text = text.replace("relative_rmse", "survived").replace(", trusted: true", "")

    found = look(text)

    assert "beam.generate, which needs role" in said(found)
    assert "Write `steps`" in said(found)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda path: path.unlink(), "no such file"),
        (lambda path: path.write_text(""), "0 bytes"),
        (lambda path: (path.unlink(), path.mkdir()), "0 bytes"),
        (lambda path: (path.unlink(), os.mkfifo(path)), "neither a regular file nor a folder"),
        (lambda path: (path.unlink(), path.symlink_to(path)), "cannot be read"),
    ],
    ids=["missing", "empty", "empty folder", "pipe", "link to itself"],
)
def test_an_input_that_cannot_be_used_is_refused(
    base: str, look: Look, folder: Path, make: Callable[[Path], object], expected: str
) -> None:
    make(folder / "pendulum.csv")

    found = look(base)

    assert [(problem.kind, problem.path) for problem in found.problems] == [
        ("data", "inputs[0].path")
    ]
    assert expected in said(found)


def test_a_folder_is_no_table(base: str, look: Look, folder: Path) -> None:
    (folder / "pendulum.csv").unlink()
    (folder / "pendulum.csv").mkdir()
    (folder / "pendulum.csv" / "x").write_text("x")

    assert "a file for role labelled_table" in said(look(base))


def test_a_folder_has_one_digest_over_names_and_contents(
    base: str, look: Look, folder: Path
) -> None:
    text = base.replace("capabilities", "  - {name: extra, path: extra}\ncapabilities", 1)
    (folder / "extra" / "sub").mkdir(parents=True)
    (folder / "extra" / "sub" / "a.txt").write_text("abc")
    first = look(text).inputs[1]
    (folder / "extra" / "sub" / "a.txt").rename(folder / "extra" / "sub" / "b.txt")
    second = look(text).inputs[1]

    assert (first.type, first.bytes) == ("directory_bundle", 3)
    assert first.sha256 != second.sha256


def test_a_link_in_a_folder_is_refused(base: str, look: Look, folder: Path) -> None:
    (folder / "extra").mkdir()
    (folder / "extra" / "secret").symlink_to("/etc/hostname")

    found = look(base.replace("capabilities", "  - {name: extra, path: extra}\ncapabilities", 1))

    assert "secret is a link" in said(found)


@pytest.mark.parametrize("where", ["copy.csv", "extra"])
def test_sealed_bytes_do_not_come_in_by_another_door(
    base: str, look: Look, folder: Path, where: str
) -> None:
    content = (folder / "pendulum.csv").read_bytes()
    copy = folder / where
    if where == "extra":
        copy.mkdir()
        copy = copy / "renamed.txt"
    copy.write_bytes(content)
    second = f"  - {{name: raw, path: {where}, role: other}}\ncapabilities"

    found = look(base.replace("capabilities", second, 1))

    assert "`raw` holds the bytes of `data`" in said(found)
    assert look(
        base.replace("capabilities", second, 1).replace(", trusted: true", "") + "holdout: none\n"
    ).ok


def test_nothing_outside_is_read_for_a_refused_path(base: str, look: Look, folder: Path) -> None:
    secret = folder / "elsewhere" / "secret.csv"
    secret.parent.mkdir()
    secret.write_text("secret")

    found = look(base.replace("path: pendulum.csv", f"path: {secret}"))

    assert "a path relative to the contract" in said(found)
    assert found.inputs == ()
    assert len(found.problems) == 1


def test_inputs_larger_than_the_disk_are_refused(base: str, look: Look) -> None:
    found = look(base, free_bytes=10)

    assert "where 10 are free" in said(found)
    assert look(base, free_bytes=10**9).ok


def test_what_the_table_reader_finds_is_taken_over(base: str, look: Look) -> None:
    problems = (
        Problem("data", "pendulum.csv", None, None, "target", "perod", "a column"),
        Problem("data", "pendulum.csv", 7, 2, 'column "period"', "NaN", "a number"),
        Problem("data", "pendulum.csv", None, None, "", "3 rows", "at least 20"),
    )

    found = look(base, check_table=lambda *_: Checked(problems, ("3 rows were dropped",)))

    assert {problem.kind for problem in found.problems} == {"data"}
    assert [(p.file, p.line, p.path) for p in found.problems] == [
        ("contract.yaml", 5, "inputs[0].path"),
        ("contract.yaml", 5, "inputs[0].target"),
        ("pendulum.csv", 7, 'column "period"'),
    ]
    assert "3 rows were dropped" in warned(found)


def test_a_criterion_that_the_mean_would_meet_draws_a_warning(base: str, look: Look) -> None:
    reached = {"kind": "training mean", "metrics": {"relative_rmse": 0.01, "r2": 0.0}}
    easy = Checked(facts={"baseline": reached})
    fair = Checked(facts={"baseline": {**reached, "metrics": {"relative_rmse": 0.4}}})

    assert "the training mean alone would meet relative_rmse <= 0.02" in warned(
        look(base, check_table=lambda *_: easy)
    )
    assert look(base, check_table=lambda *_: fair).warnings == ()


def test_the_real_table_reader_fits_in(base: str, look: Look, folder: Path) -> None:
    text = base.replace("value: 0.02", "value: 0.9")
    (folder / "flat.csv").write_text("x,period\n" + "1,2\n" * 30)

    found = look(text, check_table=check_table)
    wrong = look(base.replace("target: period", "target: perid"), check_table=check_table)
    flat = look(base.replace("pendulum.csv", "flat.csv"), check_table=check_table)

    assert found.ok
    assert "the training mean alone would meet relative_rmse <= 0.9" in warned(found)
    assert "contract.yaml:5:68: inputs[0].target" in said(wrong)
    assert "Did you mean `period`?" in said(wrong)
    assert "flat.csv" in said(flat)


def test_leases_and_inputs_that_nothing_uses_draw_warnings(
    base: str, steps: str, look: Look, folder: Path
) -> None:
    (folder / "notes.txt").write_text("x")
    text = base.replace("capabilities", "  - {name: notes, path: notes.txt}\ncapabilities", 1)
    text = text.replace("reporting.write", "tabular.describe, verification.refit")

    found = look(text + steps + "budget: {actions: 1}\n")

    assert found.ok
    assert "tabular.describe not used" in warned(found)
    assert "hypothesis_verification: true" in warned(found)
    assert "`notes` not used" in warned(found)
    assert "1 actions for 2 steps" in warned(found)


def test_a_final_predictor_needs_one_that_is_made_and_judged(
    base: str, steps: str, look: Look
) -> None:
    wish = "workflow: {final_predictor: true}\n"
    completion = base.replace(
        'metric: relative_rmse, op: "<=", value: 0.02, trusted: true',
        'metric: task_completion, op: ">=", value: 1',
    )
    nothing = completion.replace(
        "symbolic_regression.search, evaluation.regression", "tabular.describe"
    )
    unjudged = completion + steps[: steps.index("  - {id: judge")]

    assert look(base + wish).ok
    assert "no step that makes one" in said(look(nothing + wish))
    assert "no step that judges it" in said(look(unjudged + wish))


def test_a_plugin_cannot_claim_task_completion(
    base: str, look: Look, leases: Callable[..., dict[str, Any]], operations: dict[str, Operation]
) -> None:
    granted = leases()
    name = "symbolic_regression.search"
    liar = evolve(operations[name], metrics=("task_completion",))
    granted[name] = evolve(granted[name], operation=liar)

    assert "leaves it to the runtime" in said(look(base, leases=granted))


def test_delivery_needs_the_permission_and_a_publisher(base: str, look: Look) -> None:
    text = base + "deliver: [predictor_plugin]\n"
    allowed = text + "permissions: {publish_plugins: true}\n"

    assert "publish_plugins" in said(look(text))
    assert look(allowed).ok
    assert look(allowed, deliverables=("predictor_plugin",)).ok
    assert "an installed publisher" in said(look(allowed, deliverables=()))


def test_broken_parts_draw_no_follow_on_problems(base: str, look: Look) -> None:
    found = look(base.replace("capabilities: [", "capabilties: ["))

    assert [problem.path for problem in found.problems] == ["capabilties"]


def test_another_reasoner_plans_for_itself(base: str, look: Look) -> None:
    second = "  - {name: more, path: pendulum.csv, role: table}\ncapabilities"
    text = base.replace("role: labelled_table, target: period", "role: table")
    text = text.replace("capabilities", second, 1).replace(", trusted: true", "")

    found = look(text + "reasoner: {use: some.model}\n", reasoners=("recipe", "some.model"))

    assert found.ok
    assert found.steps == ()
