"""What a report tells of runs that succeeded, failed, ran out or barely happened."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from sciharness_reporting.plugin import harness_capabilities
from sciharness_reporting.shown import short_names

Report = Callable[[Any], Any]

_VOID = {"meta", "br"}


class Balance(HTMLParser):
    """Checks that elements close in order and collects IDs, targets and words."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self.open.append(tag)
        known = dict(attrs)
        self.ids += [known["id"] or ""] if "id" in known else []
        self.links += [known["href"] or ""] if "href" in known else []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Elements of SVG that close themselves."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data if self.open[-1:] != ["style"] else ""


def checked(page: str) -> Balance:
    balance = Balance()
    balance.feed(page)
    balance.close()
    assert not balance.open
    assert len(set(balance.ids)) == len(balance.ids)
    assert all(link[1:] in balance.ids for link in balance.links)
    return balance


def failed_record(run: dict[str, Any]) -> dict[str, Any]:
    """Change a run record to one whose only step failed."""
    for one in run["criteria"]:
        one.update(met=False, value=None, reason="no value was produced")
    return {
        **run,
        "failure": "fit: the worker ran out of memory",
        "metrics": [],
        "holdout_queries": [],
        "frozen": None,
        "label_isolation": "none",
        "actions": [
            {
                "step": "fit",
                "capability": "symbolic_regression.search",
                "status": "failed",
                "seconds": 3.0,
                "message": "the worker ran out of memory",
            }
        ],
    }


def test_a_successful_run_is_told_in_full(report: Report, given: Any) -> None:
    written = report(given)

    page = checked(written.html)
    for words in (
        "All criteria are met",
        "trusted",
        "60 sealed rows",
        "Does the mass of the bob matter?",
        "period = 2.00607*sqrt(length)*(1 + 0.06641*amplitude**2)",
        "Symbols and valid domain",
        "2.00442",
        "least complexity within one standard error",
        "linear",
        "found again in 9 of 10 repeated searches on other samples, and chosen again in 8",
        "Before you use the formula:",
        "Scatter changes with the prediction (p = 0.002).",
        "95 % intervals",
        "2,000,000 evaluations by operon and ended at its bound of evaluations",
        "look 1",
        "symbolic_regression",
        "enforced by the operating system",
        "1 of 60 rows lie outside",
        "no code signing",
        "text with delimiter semicolon",
        "2 rows in which a feature is missing",
        "Ignored columns",
    ):
        assert words in page.words, words
        assert words.replace("_", "\\_") in written.markdown or words in written.markdown
    assert written.html.index('id="verdict"') < written.html.index('id="formula"')


def test_each_plot_is_a_file_and_stands_in_the_page(report: Report, given: Any) -> None:
    written = report(given)

    names = {path.name for path in written.folder.glob("*.svg")}
    assert names == {
        "predicted_measured.svg",
        "residuals.svg",
        "pareto.svg",
        "final_bins.svg",
        "final_residuals.svg",
    }
    for name in names:
        text = written.plot(name)
        ElementTree.fromstring(text)
        assert text.strip() in written.html
        assert f"({name})" in written.markdown


def test_the_page_needs_no_network_and_runs_nothing(report: Report, given: Any) -> None:
    page = report(given).html

    assert "default-src 'none'" in page
    assert set(re.findall(r"https?://[^\"'\s<]*", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(
        r"<(script|link|iframe|object|embed|img|form)\b|@import|url\(|\son\w+=", page
    )


def test_a_failed_run_says_what_failed(report: Report, given: Any) -> None:
    written = report(evolve(given, run=failed_record(given.run), artifacts={}))

    page = checked(written.html).words
    assert "The run failed" in page
    assert page.count("the worker ran out of memory") >= 2
    assert "trusted required" in page
    assert "were not queried by this run" in page
    assert "nothing but file layout kept the sealed labels" in page
    assert "All criteria are met" not in page


def test_an_exhausted_run_shows_the_formula_it_has(report: Report, given: Any) -> None:
    run = failed_record(given.run) | {
        "status": "budget_exhausted",
        "failure": "budget actions: used 1 of 1",
        "actions": [],
    }
    run["budget"]["actions"] = {"used": 1, "limit": 1}
    artifacts = {"fit.formulas.json": given.artifacts["fit.formulas.json"]}

    page = checked(report(evolve(given, run=run, artifacts=artifacts)).html).words

    assert "The budget ran out" in page
    assert "budget actions: used 1 of 1. No criterion was met before the end." in page
    assert "2.00607*sqrt(length)" in page


def test_a_report_says_where_the_review_of_packages_is_told(report: Report, given: Any) -> None:
    given.run["contract"]["deliver"] = ["predictor_plugin"]

    written = report(given)

    assert "packages.md" in written.html
    assert "`independent_binary_review_performed`" in written.markdown


def test_an_unmet_criterion_shows_value_and_threshold(report: Report, given: Any) -> None:
    given.run["criteria"][0].update(met=False, value=0.0312, reason="0.0312 is not <= 0.02")

    page = checked(report(given).html).words

    assert "1 of 2 criteria is not met" in page
    assert "0.0312 (required: ≤ 0.02)" in page


def test_task_completion_is_left_open_until_the_report_is_there(report: Report, given: Any) -> None:
    given.run["criteria"] = [
        {
            "metric": "task_completion",
            "op": ">=",
            "threshold": 1,
            "value": None,
            "trusted": False,
            "met": False,
            "reason": "no value was produced",
        }
    ]

    page = checked(report(given).html).words

    assert "decided later" in page
    assert "not met" not in page


def test_replays_and_overrides_of_the_holdout_are_told(report: Report, given: Any) -> None:
    first = given.run["holdout_queries"][0]
    given.run["holdout_queries"] = [
        {**first, "replayed": True, "run_ids": ["earlier1", "earlier2"]},
        {**first, "look": 2, "spent": True},
    ]

    page = checked(report(given).html).words

    assert "replayed" in page
    assert "earlier1, earlier2" in page
    assert "--spend-holdout" in page
    assert "queried 2 times over all runs" in page


def test_a_structure_that_is_not_singled_out_is_doubted(report: Report, given: Any) -> None:
    given.artifacts["fit.formulas.json"]["candidates"][3]["stability"] = 0.2

    page = checked(report(given).html).words

    assert "came back in 2 of 10 repeated searches: the data do not single it out" in page


def test_recognised_constants_stand_beside_what_was_fitted(report: Report, given: Any) -> None:
    document = given.artifacts["fit.formulas.json"]
    document["candidates"][document["chosen"]]["recognised"] = [
        {
            "value": 0.07957747154594767,
            "text": "1/(4*pi)",
            "fitted": {"value": 0.0796125, "low": 0.0795011, "high": 0.0797239},
        },
        {"value": 1.0, "text": "<b>", "fitted": {"value": "x", "low": None}},
        "no object",
    ]

    written = report(given)

    words = checked(written.html).words
    assert "Plain values that the data cannot tell from what was fitted" in words
    assert "1/(4*pi)" in words and "0.0796125" in words and "0.0797239" in words
    assert "`1/(4*pi)`" in written.markdown
    document["candidates"][document["chosen"]]["formula"] = "0.07957747154594767*length"
    assert "<mi>\u03c0</mi>" in report(given).html
    document["candidates"][document["chosen"]]["formula"] = "0.0796*length"
    assert "<mi>\u03c0</mi>" not in report(given).html
    del document["candidates"][document["chosen"]]["recognised"]
    assert "Plain values" not in report(given).markdown


def test_columns_are_typeset_by_name_and_explained(report: Report, given: Any) -> None:
    given.artifacts["fit.formulas.json"]["chosen"] = 4

    written = report(given)

    assert "<mi>bob mass</mi>" in written.html
    assert "could not be computed" not in written.html
    assert "| `bob mass` | `X3` | `bob mass [g]` | g |" in written.markdown


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ({"X1": "v [m/s]", "X2": "v [km/h]"}, {"X1": "X1", "X2": "X2"}),
        ({"X1": "a" * 40, "b": "b"}, {"X1": "X1", "b": "b"}),
        ({"X1": " [m]"}, {"X1": "X1"}),
    ],
    ids=["not told apart", "long", "only a unit"],
)
def test_columns_keep_their_symbol_where_a_name_would_not_do(
    names: dict[str, str], shown: dict[str, str]
) -> None:
    assert short_names(names) == shown


@pytest.mark.parametrize(
    "run",
    [{}, [], None, {"criteria": 3, "metrics": {"a": 1}, "actions": ["x"], "budget": []}, b"{", b""],
    ids=["empty", "list", "null", "odd types", "cut", "no bytes"],
)
def test_an_odd_run_record_still_gives_a_report(report: Report, given: Any, run: Any) -> None:
    written = report(evolve(given, run=run, artifacts={}, rows=None))

    assert "Nothing was judged" in checked(written.html).words


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"[" * 100_000,
        {"schema": "formulas-v1"},
        {"schema": "formulas-v1", "candidates": [{}, 3], "chosen": 0, "features": 5},
        {"schema": "formulas-v1", "candidates": [{"formula": "__import__('os')"}], "chosen": 0},
        {"schema": "formulas-v1", "candidates": [{"formula": "(" * 5000}], "chosen": 0},
        {"schema": "formulas-v1", "candidates": [{"formula": "nosuch + 1"}], "chosen": 0},
        {"schema": "formulas-v1", "candidates": [{"formula": "log(-length)"}], "chosen": 0},
        {"schema": "formulas-v1", "candidates": [{"formula": "1e308*length*9"}], "chosen": 7},
    ],
    ids=["empty", "deep", "bare", "odd", "code", "brackets", "unknown", "not finite", "no choice"],
)
def test_odd_formulas_leave_a_gap_not_an_error(report: Report, given: Any, value: Any) -> None:
    artifacts = {**given.artifacts, "fit.formulas.json": value}

    written = report(evolve(given, artifacts=artifacts))

    assert "All criteria are met" in checked(written.html).words


def test_rows_that_cannot_be_read_are_told(report: Report, given: Any) -> None:
    rows = given.rows.copy()
    rows[0, 3] = float("nan")

    written = report(evolve(given, rows=rows))

    assert "The visible rows could not be read" in checked(written.html).words
    assert written.outcome.notes


def test_a_formula_of_one_column_is_drawn_as_a_curve(report: Report, given: Any) -> None:
    given.artifacts["fit.formulas.json"]["chosen"] = 1

    written = report(given)

    ElementTree.fromstring(written.plot("curve.svg"))
    assert "The formula uses one column" in checked(written.html).words


def classified(given: Any, classes: list[str], counts: list[list[int]], **more: Any) -> Any:
    """Return what a report of a classification gets: no formula, a card, an evaluation."""
    rows = given.rows.copy()
    rows[3] = [number % len(classes) for number in range(rows.shape[1])]
    card = {
        "schema": "file-predictor-v1",
        "task": "classification",
        "target": {"name": "fate", "unit": None, "classes": classes},
        "columns": [{"name": "length", "dtype": "float64", "unit": "m", "min": 0.2, "max": 2.5}],
        "out_of_domain": "refuse",
        "metrics": [{"name": "accuracy", "value": 0.91, "source": "validation", "rows": 240}],
    }
    selection = {
        "schema": "model-selection-v1",
        "chosen": "forest",
        "rule": "the least loss",
        "candidates": [
            {"model": "linear", "setting": {"penalty": 0.01}, "loss": 0.3, "metrics": {}},
            {"model": "forest", "setting": {}, "loss": 0.2, "metrics": {"accuracy": 0.91}},
        ],
    }
    judged = {
        "task": "classification",
        "view": "final",
        "rows": sum(map(sum, counts)),
        "metrics": {"accuracy": 0.9, "balanced_accuracy": 0.89},
        "undefined": {"auc": "the predictions have no column 'probability'"},
        "classes": classes,
        "confusion": [
            {"true": name, "n": sum(row), "predicted": row}
            for name, row in zip(classes, counts, strict=True)
        ],
        **more,
    }
    artifacts = {
        "fit.model_card.json": card,
        "fit.model_selection.json": selection,
        "judge.evaluation.json": judged,
    }
    return evolve(given, artifacts=artifacts, rows=rows, classes=tuple(classes))


def test_classification_shows_classes_as_text(report: Report, given: Any) -> None:
    told = classified(given, ["lost", "kept", "late"], [[18, 2, 0], [1, 10, 0], [0, 0, 12]])

    written = report(told)

    page, dash = checked(written.html).words, " \u2013 |"
    assert "predicted kept" in page
    assert "undefined: the predictions have no column" in page
    assert "| `lost` | 80 | 33.3 % |" in written.markdown
    assert f"| `period` |  | target |{4 * dash} 3 classes |" in written.markdown
    assert not (written.folder / "final_bins.svg").exists()
    assert not (written.folder / "calibration.svg").exists()


def test_classification_is_compared_with_the_commonest_class(report: Report, given: Any) -> None:
    told = classified(given, ["lost", "kept", "late"], [[18, 2, 0], [1, 10, 0], [0, 0, 12]])

    written = report(told)

    # Of 43 sealed rows 20 are of the class that is the first of the commonest in the visible rows.
    assert "Always the commonest class" in written.markdown
    assert "| `accuracy` | 0.9 | 0.4651 |" in written.markdown
    assert "| `balanced_accuracy` | 0.89 | 0.3333 |" in written.markdown


def test_classification_is_drawn(report: Report, given: Any) -> None:
    bins = [
        {"n": 20, "predicted_mean": mean, "true_mean": share, "residual_mean": 0.0,
         "residual_std": 0.3}
        for mean, share in ((0.1, 0.05), (0.5, 0.6), (0.9, 0.95))
    ]  # fmt: skip

    written = report(classified(given, ["lost", "kept"], [[28, 2], [1, 29]], bins=bins))

    for name in ("confusion.svg", "calibration.svg"):
        ElementTree.fromstring(written.plot(name))
        assert written.plot(name).strip() in written.html
    assert ">29<" in written.plot("confusion.svg")
    assert "mean predicted probability of kept" in written.plot("calibration.svg")


def test_a_predictor_without_formula_is_described(report: Report, given: Any) -> None:
    written = report(classified(given, ["lost", "kept"], [[28, 2], [1, 29]]))

    assert "| `forest` |  | 0.2 | 0.91 | chosen |" in written.markdown
    assert "- **Rows outside the ranges:** refused" in written.markdown
    assert "| `length` | m | 0.2 | 2.5 |" in written.markdown
    assert "The formula" not in written.markdown


def test_who_approved_a_plan_is_named(report: Report, given: Any) -> None:
    given.run["approvals"] = [
        {"plan": "plan.verification_plan.json", "sha256": "ab" * 32, "name": "R. Hill",
         "words": "as planned"}
    ]  # fmt: skip

    written = report(given)

    assert "| `plan.verification_plan.json` | R. Hill | as planned | `abababababab` |" in (
        written.markdown
    )


def test_equal_inputs_give_equal_bytes_in_any_process(report: Report, given: Any) -> None:
    written = report(given)
    program = (
        "import json, sys; from pathlib import Path; from sciharness import Context, Input, Table;"
        "from sciharness_reporting.plugin import WriteRequest, write;"
        "folder, kinds, table = Path(sys.argv[1]), *json.loads(sys.argv[2]);"
        "inputs = {n: Input(n, folder / n, k) for n, k in kinds.items()};"
        "inputs['data'] = Input('data', folder / 'data.csv', 'DATASET', 'labelled_table',"
        " Table(**table));"
        "write(WriteRequest(), Context(inputs=inputs, workspace=folder / 'again'))"
    )
    kinds = {"run": "run", "fit.formulas.json": "analysis_result"}
    kinds |= {"fit.model_card.json": "model_card", "judge.evaluation.json": "predictor.evaluation"}
    table = {"target": "period", "features": given.columns, "units": given.units}
    arguments = [str(written.folder.parent), json.dumps([kinds, table])]

    subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
    )

    again = written.folder.parent / "again" / "outputs"
    assert digests(again) == digests(written.folder)


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_no_path_of_this_machine_is_told(report: Report, given: Any) -> None:
    written = report(evolve(given, artifacts={**given.artifacts, "fit.formulas.json": b"{"}))

    for path in written.folder.iterdir():
        assert str(written.folder.parent) not in path.read_text(encoding="utf-8")


def test_describing_the_plugin_loads_no_numpy() -> None:
    program = (
        "import sys, sciharness_reporting.plugin as p; p.harness_capabilities();"
        "sys.exit('numpy' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
    assert [one.operation for one in harness_capabilities()] == ["write"]
