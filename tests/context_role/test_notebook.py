"""Results in notebooks: what is shown, and that nothing of a plugin's texts runs there."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from sciharness import Result, run
from sciharness.errors import HarnessError
from sciharness.mathml import equation

CRITERION: dict[str, Any] = {
    "metric": "relative_rmse",
    "op": "<=",
    "threshold": 0.02,
    "value": 0.0123456,
    "trusted": True,
    "met": True,
    "reason": None,
}
FORMULAS: dict[str, Any] = {
    "target": "T [s]",
    "symbols": {"X1": "length [m]"},
    "candidates": [
        {"formula": "1.7", "complexity": 1, "metrics": {"validation": {"relative_rmse": 0.4}}},
        {
            "formula": "2.00640892*sqrt(X1)",
            "complexity": 4,
            "metrics": {"validation": {"relative_rmse": 0.01}},
            "domain": {"length [m]": [0.1, 2.0]},
        },
    ],
    "chosen": 1,
}

Make = Callable[..., Result]


@pytest.fixture
def result(tmp_path: Path) -> Make:
    """A maker of results with a formula, a criterion and a plot unless told otherwise."""

    def make(formulas: Any = FORMULAS, plot: str = "<svg/>", **view: Any) -> Result:
        files = {"curve.svg": plot}
        if formulas is not None:
            files["formulas.json"] = json.dumps(formulas)
        artifacts = []
        for name, text in files.items():
            (tmp_path / name).write_text(text)
            artifacts.append({"name": name, "path": str(tmp_path / name), "type": "OTHER"})
        shown = {
            "run_id": "00001-abcdef",
            "title": "Pendulum",
            "status": "succeeded",
            "criteria": [CRITERION],
            "artifacts": artifacts,
            **view,
        }
        return Result(home=tmp_path, view=shown)

    return make


def test_formula_criteria_and_plots_are_shown(result: Make) -> None:
    html = result()._repr_html_()

    assert "<msqrt><mi>length [m]</mi></msqrt>" in html
    assert "T [s] = 2.0064*sqrt(X1)" in html
    assert "0.1 \u2264 length [m] \u2264 2" in html
    assert re.search(r"relative_rmse &lt;= 0.02.*0.012346.*trusted.*>met<", html)
    assert 'src="data:image/svg+xml;base64,PHN2Zy8+"' in html
    assert "1 (chosen)" in html


def test_what_is_shown_is_well_formed(result: Make) -> None:
    root = ElementTree.fromstring(result()._repr_html_())

    assert {"math", "table", "img", "details"} <= {element.tag for element in root.iter()}


def test_an_unmet_criterion_says_why(result: Make) -> None:
    unmet = {**CRITERION, "met": False, "value": None, "reason": "no value was produced"}

    shown = result(criteria=[unmet], status="failed")

    assert ">not met</span> no value was produced" in shown._repr_html_()
    assert "| no value | trusted | NOT met |" in shown._repr_markdown_()


def test_markdown_has_verdicts_and_the_formula_as_text(result: Make) -> None:
    text = result()._repr_markdown_()

    assert "`T [s] = 2.0064*sqrt(X1)`" in text
    assert r"| relative\_rmse \<= 0.02 | 0.012346 | trusted | met |" in text


def test_a_refused_contract_tells_all_its_problems_in_the_traceback(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("schema: research-contract-v1\ntitel: x\n")

    with pytest.raises(HarnessError) as caught:
        run(tmp_path / "c.yaml", home=tmp_path / "home")

    shown = "".join(traceback.format_exception(caught.value))
    assert all(str(problem) in shown for problem in caught.value.problems)
    assert len(caught.value.problems) > 1


HOSTILE = "<script>alert(1)</script>"


def test_texts_of_plugins_do_not_run(result: Make) -> None:
    chosen = {
        "formula": f"a + 1 # ` {HOSTILE} \n\n {HOSTILE}",
        "complexity": HOSTILE,
        "latex": r"\href{javascript:alert(1)}{x}",
        "domain": {HOSTILE: [0, 1]},
        "metrics": {},
    }
    formulas = {
        "target": HOSTILE,
        "symbols": {"a": HOSTILE},
        "candidates": [chosen, {**chosen, "formula": HOSTILE}],
        "chosen": 0,
    }
    shown = result(formulas, plot=HOSTILE, title=HOSTILE, status=HOSTILE, run_id=HOSTILE)

    assert "<script" not in shown._repr_html_()
    assert "javascript" not in shown._repr_html_()
    outside_code = re.sub(r"`[^`]*`", "", shown._repr_markdown_())
    assert "<script" not in outside_code.replace(r"\<", "")


@pytest.mark.parametrize(
    "formulas",
    [None, {}, {"candidates": []}, {"candidates": [{}], "chosen": 0}, [], "text"],
    ids=repr,
)
def test_a_run_without_a_formula_is_shown_all_the_same(result: Make, formulas: Any) -> None:
    html = result(formulas)._repr_html_()

    assert "<math" not in html
    assert ">met<" in html


def test_no_path_of_this_machine_is_shown(result: Make, tmp_path: Path) -> None:
    shown = result()

    assert str(tmp_path) not in shown._repr_html_() + shown._repr_markdown_()


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("-1.5*a", "\u22121.5\u22c5a"),
        ("a - (b - 1)", "a\u2212(b\u22121)"),
        ("(a + b)*2.0", "(a+b)\u22c52"),
        ("(a*b)**2", "(a\u22c5b)2"),
        ("log(a)", "ln\u2061(a)"),
        ("2.5e-07", "2.5\u22c510\u22127"),
        ("alpha + Omega", "\u03b1+\u03a9"),
        ("a - -2.0", "a\u2212(\u22122)"),
    ],
)
def test_formulas_keep_their_meaning_when_typeset(formula: str, shown: str) -> None:
    root = ElementTree.fromstring(equation("y", formula, {}))

    assert "".join(root.itertext()) == f"y={shown}"


@pytest.mark.parametrize("formula", ["a.b", "a[0]", "f(a, b)", "a if b else c", "(" * 300, "'a'"])
def test_what_is_no_formula_is_not_typeset(formula: str) -> None:
    assert equation("y", formula, {}) == ""
