"""Units: texts read without evaluating, impossible formulas told, groups that shrink a search."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import parse
from sciharness_symbolic_regression.samples.sample import Sample
from sciharness_symbolic_regression.units.checking import check
from sciharness_symbolic_regression.units.dimensions import (
    PURE,
    UnitError,
    dimension_of,
    known_dimensions,
)
from sciharness_symbolic_regression.units.groups import views


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("kg m-3", "kg/m^3"),
        ("W m^-2 K^-1", "W/m**2/K"),
        ("J/(mol K)", "J mol-1 K-1"),
        ("kg·m²/s²", "J"),
        ("km/h", "m s⁻¹"),
        ("µg/L", "kg/m3"),
        ("°C", "K"),
        ("Ω·m", "V/A*m"),
        ("1e-6/K", "K^-1"),
        ("m^(1/2)", "cm^(1/2)"),
        ("%", "1"),
        ("pH", ""),
    ],
)
def test_units_are_read_as_people_write_them(text, same):
    assert dimension_of(text) == dimension_of(same)


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9**9",
        "__import__('os').system('touch owned')",
        "m^99999999",
        "m^(1/0)",
        "(" * 70,
        "m" * 1000,
        "flurb",
        "m^x",
        "m/",
        "[0 for _ in m]",
        "m;s",
    ],
)
def test_no_unit_text_is_evaluated(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(UnitError):
        dimension_of(text)

    assert not list(tmp_path.iterdir())


@given(st.text(max_size=90))
def test_any_text_is_a_dimension_or_a_unit_error(text):
    with contextlib.suppress(UnitError):
        dimension_of(text)


def test_a_unit_that_is_not_understood_is_told_and_left_out():
    found, unread = known_dimensions({"v": "m/s", "price": "USD per flurb"})

    assert set(found) == {"v"}
    assert "price" in unread[0]


KNOWN = {
    name: dimension_of(unit)
    for name, unit in {"x": "m", "t": "s", "v": "m/s", "m": "kg", "a": ""}.items()
}


@pytest.mark.parametrize(
    ("formula", "target", "possible"),
    [
        ("0.5*m*v**2", "J", True),
        ("x/t + 3*v", "m/s", True),
        ("x + t", "m", False),
        ("x*sin(v*t/x)", "m", True),
        ("x*sin(t)", "m", False),
        ("exp(-x)", "", False),
        ("sqrt(x*v*t)", "m", True),
        ("x**a", "m", False),
        ("a**a", "", True),
        ("x**2.0", "m", False),
        ("log(x/(v*t)) + a", "", True),
        ("m*unknown", "kg", None),
        ("x + unknown + t", "m", None),
        ("0*x + v", "m/s", False),
        ("x + 0", "m", True),
    ],
)
def test_a_formula_is_possible_or_not_or_not_known(formula, target, possible):
    found = check(parse(formula), KNOWN, dimension_of(target))

    assert found.possible is possible
    assert bool(found.why) == (possible is False)


LAWS = {
    "energy": ("0.5*m*v**2", {"m": "kg", "v": "m/s"}, "J"),
    "barometer": (
        "n*exp(-m*g*x/(k*t))",
        {"n": "1/m^3", "m": "kg", "g": "m/s^2", "x": "m", "k": "J/K", "t": "K"},
        "1/m^3",
    ),
    "lorentz": (
        "(x - u*t)/sqrt(1 - u**2/c**2)",
        {"x": "m", "u": "m/s", "t": "s", "c": "m/s"},
        "m",
    ),
    "half powers": ("2*sqrt(x/g)", {"x": "m", "g": "m/s^2"}, "s"),
}


@pytest.mark.parametrize("law", LAWS)
def test_views_have_fewer_columns_and_are_the_same_data(law):
    formula, units, unit = LAWS[law]
    random = np.random.default_rng(0)
    columns = {name: random.uniform(0.2, 0.9, 50) for name in units} | {
        "c": random.uniform(2.0, 3.0, 50)
    }
    columns = {name: columns[name] for name in units}
    target = evaluate(parse(formula), columns)
    sample = Sample(columns, target, np.ones(50))
    known, _ = known_dimensions(units)

    found = views(known, (), dimension_of(unit), sample)

    assert found
    for view in found:
        seen = view.sample(sample)
        assert len(view.groups) < len(units)
        # a formula that the view takes back has the original target's values and is possible
        some = " + ".join(["1.5", *(name for name, _ in view.groups)])
        wanted = evaluate(parse(some), seen.columns) * target / seen.target
        for tree in view.back(parse(some)):
            # a dozen multiplications and powers in double precision
            assert np.allclose(evaluate(tree, columns), wanted, rtol=1e-12)
            assert check(tree, known, dimension_of(unit)).possible


def test_where_the_target_is_out_of_reach_there_is_no_view():
    known, _ = known_dimensions({"x": "m", "y": "m"})

    assert views(known, (), dimension_of("kg")) == ()
    assert views({"a": PURE}, (), dimension_of("kg")) == ()


def spring(rows=60):
    random = np.random.default_rng(5)
    columns = {
        "k [N/m]": random.uniform(1, 5, rows),
        "x [m]": random.uniform(1, 5, rows),
        "m [kg]": random.uniform(1, 5, rows),
        "v [m/s]": random.uniform(1, 5, rows),
    }
    k, x, m, v = columns.values()
    return columns | {"E [J]": 0.5 * k * x**2 + 0.5 * m * v**2}


UNITS = {name: name.partition("[")[2].rstrip("]") for name in spring(12)}


def test_a_search_with_units_names_the_law_and_says_what_is_possible(run_search):
    run = run_search(spring(), roles={"units": UNITS}, max_evaluations=30_000, restarts=2)

    assert run.chosen["structure"] in {"C*X1*X2**(2) + C*X3*X4**(2)"}
    assert run.chosen["units_possible"] is True
    assert {one["units_possible"] for one in run.formulas["candidates"]} <= {True}


@pytest.mark.slow
def test_units_can_be_told_only_or_be_ignored(run_search):
    settings = {"max_evaluations": 30_000, "restarts": 1}
    marked = run_search(spring(), name="a", roles={"units": UNITS}, units="mark", **settings)
    ignored = run_search(spring(), name="b", roles={"units": UNITS}, units="ignore", **settings)
    without = run_search(spring(), name="c", **settings)

    told = [one["units_possible"] for one in marked.formulas["candidates"]]
    assert False in told  # the mean is no energy: marked, not left out
    assert all("units_possible" not in one for one in ignored.formulas["candidates"])
    assert [one["formula"] for one in ignored.formulas["candidates"]] == [
        one["formula"] for one in without.formulas["candidates"]
    ]


def test_a_law_whose_constant_has_a_unit_is_found_and_marked(run_search):
    random = np.random.default_rng(2)
    columns = {"T [K]": random.uniform(1, 9, 60)}
    units = {"T [K]": "K", "c [J/K]": "J/K"}
    data = columns | {"c [J/K]": 0.3 * columns["T [K]"] ** 3}

    run = run_search(data, roles={"units": units}, max_evaluations=40_000, restarts=2)

    assert run.chosen["structure"] == "C*X1**(3)"
    assert run.formulas["search"]["failed_restarts"] == 0
    assert run.chosen["units_possible"] is False
    assert any("constant would have to carry a unit" in note for note in run.outcome.notes)
