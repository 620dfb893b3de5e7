"""PySR: looked for without importing, translated without Julia, run where Julia is."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from attrs import evolve

from sciharness.errors import HarnessError
from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import ExpressionError, parse
from sciharness_symbolic_regression.engines import engine_named, julia
from sciharness_symbolic_regression.engines.base import Attempt
from sciharness_symbolic_regression.engines.pysr import (
    BINARY,
    UNARY,
    PySR,
    findings,
    settings,
    translated,
    written_so_far,
)
from sciharness_symbolic_regression.samples.sample import Sample

MISSING = julia.missing()
needs_julia = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
ATTEMPT = Attempt("pysr", 2**40 + 5, (*BINARY, *UNARY), 25, 50_000)


def sample(rows=80):
    random = np.random.default_rng(0)
    columns = {"speed": random.uniform(1, 3, rows), "X2": random.uniform(1, 3, rows)}
    return Sample(columns, columns["speed"] * np.exp(columns["X2"]), np.ones(rows))


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """No Julia anywhere, whatever this machine has."""
    for name in ("PYTHON_JULIAPKG_EXE", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHON_JULIAPKG_PROJECT", str(tmp_path / "project"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def fake_pysr(folder, body="raise SystemExit('imported')"):
    """A package of that name that would give itself away if it were imported."""
    (folder / "site" / "pysr").mkdir(parents=True)
    mark = folder / "imported"
    text = f"open({str(mark)!r}, 'w').close()\n{textwrap.dedent(body)}\n"
    (folder / "site" / "pysr" / "__init__.py").write_text(text, "utf-8")
    return mark


def test_without_the_package_the_message_says_what_to_do(bare, monkeypatch):
    monkeypatch.setattr(julia, "find_spec", lambda name: None)

    assert "is not installed" in julia.missing()
    assert "[pysr]" in julia.missing()


def test_without_julia_it_is_told_and_nothing_is_imported(bare, monkeypatch):
    mark = fake_pysr(bare)
    monkeypatch.syspath_prepend(str(bare / "site"))

    with pytest.raises(HarnessError) as refused:
        engine_named("pysr")

    assert "Julia was not found" in refused.value.message
    assert refused.value.exit_code == 1
    assert not mark.exists()
    assert "pysr" not in sys.modules
    assert not (bare / "project").exists()


@pytest.mark.parametrize("way", ["variable", "path", "recorded", "installed"])
def test_julia_is_found_where_pysr_would_take_it(bare, monkeypatch, way):
    place = {
        "variable": bare / "elsewhere" / "julia",
        "path": bare / "bin" / "julia",
        "recorded": bare / "kept" / "julia",
        "installed": bare / "project" / "pyjuliapkg" / "install" / "bin" / "julia",
    }[way]
    place.parent.mkdir(parents=True)
    place.write_text("#!/bin/sh\n", "utf-8")
    place.chmod(0o755)
    if way == "variable":
        monkeypatch.setenv("PYTHON_JULIAPKG_EXE", str(place))
    if way == "recorded":
        meta = bare / "project" / "pyjuliapkg" / "meta.json"
        meta.parent.mkdir(parents=True)
        meta.write_text(f'{{"executable": "{place}"}}', "utf-8")

    assert julia.julia() == place


@pytest.mark.parametrize("text", ["", "[]", '{"executable": 3}', "{", '{"executable": "/no"}'])
def test_a_broken_record_is_no_julia(bare, text):
    meta = bare / "project" / "pyjuliapkg" / "meta.json"
    meta.parent.mkdir(parents=True)
    meta.write_text(text, "utf-8")

    assert julia.julia() is None


def test_a_named_julia_that_is_not_there_is_none(bare, monkeypatch):
    monkeypatch.setenv("PYTHON_JULIAPKG_EXE", str(bare / "no"))

    assert julia.julia() is None


EQUATIONS = {
    "x1 * exp(x2)": "speed*exp(X2)",
    "square(x1 + cube(x2)) ^ 0.5": "((speed + X2**3)**2)**0.5",
    "-x1 ^ 2": "-(speed**2)",
    "inv(neg(x2))": "1/(-X2)",
    "safe_log(x1) - 1.5f-1": "log(speed) - 0.15",
    "cbrt(x1) + abs(x2) / -3.0e-2": "cbrt(speed) + abs(X2)/(-0.03)",
    "x1 - (x2 - 1)": "speed - (X2 - 1)",
    "2.0 ^ x1 ^ 2": "2**(speed**2)",
}


@pytest.mark.parametrize(("equation", "wanted"), EQUATIONS.items())
def test_an_equation_means_the_same_here(equation, wanted):
    data = sample()
    tree = translated(equation, data.symbols)

    assert np.allclose(evaluate(tree, data.columns), evaluate(parse(wanted), data.columns))


@pytest.mark.parametrize(
    "equation",
    ["x3", "gamma(x1)", "x1 > 2", "square(x1", "ifelse(x1, 1, 2)", "f(x1)", "speed", "(" * 30_000],
)
def test_an_unknown_equation_is_refused(equation):
    with pytest.raises(ExpressionError):
        translated(equation, sample().symbols)


def test_a_table_is_taken_over_without_what_cannot_be_read():
    data = sample()
    rows = [("1.7", 9.0), ("gamma(x1)", 1e-30), ("x1 * exp(x2)", 1e-25), ("x1", "no number")]

    found = findings(rows, data, 500)

    assert found.formulas == ("1.7", "speed*exp(X2)", "speed")
    assert found.exact
    assert found.error < 1e-10
    assert findings([], data, 0).formulas == ()
    assert not findings([], data, 0).exact


def test_settings_make_a_run_repeatable():
    made = settings(ATTEMPT, "folder")

    assert made["deterministic"] is True
    assert made["parallelism"] == "serial"
    assert 0 <= made["random_state"] < 2**31
    assert made["max_evals"] == 50_000
    assert set(made["binary_operators"]) == {"+", "-", "*", "/", "^"}
    assert settings(evolve(ATTEMPT, loss="huber"), "f")["elementwise_loss"] == "L1DistLoss()"


def test_the_front_so_far_is_read_from_the_file(tmp_path):
    assert written_so_far(tmp_path) == []
    (tmp_path / "run").mkdir()
    path = tmp_path / "run" / "hall_of_fame.csv"
    path.write_text('Complexity,Loss,Equation\n1,2.5,"x1"\n3,0.5,"x1 * x2"\n', "utf-8")

    assert written_so_far(tmp_path) == [("x1", "2.5"), ("x1 * x2", "0.5")]
    path.write_text("Comple", "utf-8")
    assert written_so_far(tmp_path) == []


STAND_IN = """
    import os
    class PySRRegressor:
        def __init__(self, **settings):
            self.settings = settings
        def fit(self, X, y, weights, variable_names):
            assert os.environ["PYTHON_JULIAPKG_OFFLINE"] == "yes"
            assert list(variable_names) == ["x1", "x2"]
            assert X.shape == (80, 2) and y.shape == (80,) and weights.shape == (80,)
            self.equations_ = {"equation": ["x1", "x1 * exp(x2)"], "loss": [3.0, 0.0]}
"""


def test_a_run_asks_pysr_offline_and_takes_its_table(tmp_path):
    fake_pysr(tmp_path, STAND_IN)
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path / "site")!r})
import numpy as np
from sciharness_symbolic_regression.engines.base import Attempt
from sciharness_symbolic_regression.engines.pysr import PySR
from sciharness_symbolic_regression.samples.sample import Sample
columns = {{"speed": np.linspace(1, 2, 80), "X2": np.linspace(0, 1, 80)}}
data = Sample(columns, columns["speed"] * np.exp(columns["X2"]), np.ones(80))
found = PySR().search(data, Attempt("pysr", 1, ("add", "mul", "exp"), 20, 1000), print)
print(found.formulas, found.exact)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.stdout.splitlines()[-1] == "('speed', 'speed*exp(X2)') True", done.stderr


@pytest.mark.slow
@pytest.mark.heavy
@needs_julia
def test_pysr_finds_a_law():
    found = PySR().search(sample(), evolve(ATTEMPT, operators=("add", "mul", "exp")), print)

    assert found.error < 1e-6
