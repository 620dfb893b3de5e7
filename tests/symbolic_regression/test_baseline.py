"""The bounded baseline: names simple laws, is deterministic, needs its permission."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from sciharness.plugin import Context
from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import parse
from sciharness_symbolic_regression.baseline.forms import formulas
from sciharness_symbolic_regression.baseline.subsets import best_sums
from sciharness_symbolic_regression.plugin import baseline
from sciharness_symbolic_regression.request import BaselineRequest
from sciharness_symbolic_regression.samples.sample import Sample


def columns_of(rows=120, seed=4):
    random = np.random.default_rng(seed)
    return {name: random.uniform(0.5, 3.0, rows) for name in ("a", "b", "c")}


@pytest.fixture
def run(tmp_path, data_of):
    def run(columns, name="run", seed=0):
        context = Context(
            inputs={"data": data_of(columns)}, workspace=tmp_path / name, seed=seed, workers=2
        )
        outcome = baseline(BaselineRequest(), context)
        text = (context.workspace / "outputs" / "formulas.json").read_text("utf-8")
        document = json.loads(text)
        return document["candidates"][document["chosen"]], outcome, text

    return run


LAWS = {
    "power": (lambda c: 2.5 * c["a"] ** 1.5 / c["b"] ** 2, "C*a**(3/2)*b**(-2)"),
    "sum": (lambda c: 2 * c["a"] * c["b"] - 3 * c["c"] ** 2 + 1, "C*a*b + C*c**(2) + C"),
    "exponential": (lambda c: -4 * np.exp(-0.5 * c["a"] + c["b"]), "C*exp(C*a + C*b)"),
    "ratio": (lambda c: 3 * c["a"] / c["b"] + 0.5 * np.log(c["c"]), "C*a*b**(-1) + C*log(c)"),
}


@pytest.mark.parametrize("law", LAWS)
def test_a_simple_law_is_named(run, law):
    function, structure = LAWS[law]
    columns = columns_of()
    exact = function(columns)
    noisy = exact + np.random.default_rng(2).normal(0, 0.01 * exact.std(), len(exact))

    chosen, outcome, _ = run(columns | {"y": noisy})

    assert chosen["structure"] == structure
    assert any("No search was made" in note for note in outcome.notes)


def test_it_gives_the_same_bytes_again_and_is_quick(run):
    columns = columns_of()
    table = columns | {"y": np.sin(columns["a"]) + columns["b"]}

    one, two = run(table, "one"), run(table, "two")

    assert one[2] == two[2]


def test_its_formulas_load_no_engine():
    program = """
        import sys
        import numpy as np
        from sciharness_symbolic_regression.baseline.forms import formulas
        from sciharness_symbolic_regression.samples.sample import Sample
        x = np.linspace(1, 2, 30)
        print(formulas(Sample({"x": x}, 3 * x**2, np.ones(30)))[0])
        heavy = {"pyoperon", "scipy", "sklearn", "sympy", "pysr"} & set(sys.modules)
        assert not heavy, heavy
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    assert "x**2" in done.stdout


@pytest.mark.parametrize("target", ["zeros", "negative", "both"])
def test_columns_that_fit_no_form_are_left_out(target):
    x = np.linspace(-2, 2, 41)  # holds 0: no logarithm, no reciprocal
    values = {"zeros": x * 0 + (x > 1), "negative": -(x**2) - 1, "both": x**3}[target]

    for text in formulas(Sample({"x": x, "flat": x * 0 + 3}, values, np.ones(41))):
        assert "log" not in text
        assert "1/x" not in text
        assert "flat" not in text


def test_terms_that_depend_on_each_other_do_not_hide_a_pair():
    x = np.linspace(1, 4, 80)
    y = 2 + 0.1 * np.sin(9 * x)  # hardly varies: y, x*y and x look much alike
    data = Sample({"x": x, "y": y}, 0.1 * x * y - 0.4 * y, np.ones(80))

    found = best_sums(data)

    assert any("x*y" in text and "*y +" in f"{text} +" and text.count("+") == 1 for text in found)
    best = min(
        float(np.abs(evaluate(parse(text), data.columns) - data.target).max()) for text in found
    )
    assert best < 1e-9  # rounding of a few operations on numbers of order one


CONTRACT = """
schema: research-contract-v1
title: Baseline
goal: Fit a simple form.
inputs: [{name: data, path: data.csv, role: labelled_table, target: y}]
capabilities: [symbolic_regression.baseline]
acceptance: [{metric: r2, op: ">=", value: 0.9}]
holdout: none
"""


@pytest.mark.slow
def test_without_its_permission_no_contract_may_lease_it(tmp_path):
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
    from harness import COMMAND

    rows = "\n".join(f"{x},{2 * x + 1}" for x in range(1, 40))
    (tmp_path / "data.csv").write_text("x,y\n" + rows + "\n", "utf-8")
    contract = tmp_path / "contract.yaml"

    def check(text):
        contract.write_text(text, "utf-8")
        command = [COMMAND, "--home", str(tmp_path / "home"), "check", str(contract)]
        return subprocess.run(command, capture_output=True, text=True)

    without = check(CONTRACT)
    allowed = check(CONTRACT + "permissions: {symbolic_baseline: true}\n")

    assert without.returncode != 0
    assert "the permission symbolic_baseline" in without.stdout + without.stderr
    assert allowed.returncode == 0, allowed.stdout + allowed.stderr
