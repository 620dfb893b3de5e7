"""Squares that were found term by term become squares again."""

from __future__ import annotations

import numpy as np
import pytest

from sciharness_publisher.expression import parse, render
from sciharness_symbolic_regression.finishing.candidates import Limits, gather
from sciharness_symbolic_regression.finishing.fitting import fit, values
from sciharness_symbolic_regression.finishing.squares import squares
from sciharness_symbolic_regression.formulas.algebra import canonical
from sciharness_symbolic_regression.formulas.forms import shape
from sciharness_symbolic_regression.formulas.written import tree_of
from sciharness_symbolic_regression.samples.sample import Rows, Sample

DISTANCE = "sqrt(x**2 - 2*x*y + y**2 + z**2 - 2*z*w + w**2)"


def sample(rows=200, seed=0):
    columns = dict(zip("xyzw", np.random.default_rng(seed).uniform(1, 5, (4, rows)), strict=True))
    left = (columns["x"] - columns["y"]) ** 2 + (columns["z"] - columns["w"]) ** 2
    return Sample(columns, np.sqrt(left), np.ones(rows))


@pytest.mark.parametrize(
    ("text", "square"),
    [
        (DISTANCE, "sqrt((x - y)**2 + z**2 - 2*z*w + w**2)"),
        ("3*x**2*y**2 - 6*x*y*z + 3*z**2 + w", "3*(x*y - z)**2 + w"),
        ("exp(-x**2 + 2*x*y - y**2)", "exp(-(x - y)**2)"),
        ("1/(x**2 + 2*x + 1)", "1/(x + 1)**2"),
    ],
)
def test_a_square_is_completed_and_loses_nothing(text, square):
    form = canonical(parse(text))

    found = [canonical(tree_of(one)) for one in squares(form)]

    assert shape(canonical(parse(square))) in map(shape, found)
    wanted = values(form, sample())
    rows = Sample(sample().columns, wanted, np.ones(200))
    for one in found:
        fitted = fit(one, rows)
        assert fitted is not None
        np.testing.assert_allclose(values(fitted, rows), wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "text", ["x**2 - 4*x*y + y**2", "x**2 + y**2", "x**2 - 2*x*y - y**2", "x**3 - 2*x*y + y**2"]
)
def test_what_is_no_square_stays(text):
    assert list(squares(canonical(parse(text)))) == []


def test_a_law_found_term_by_term_is_written_with_its_squares():
    rows = Rows(sample(), sample(80, seed=1))

    found = gather([DISTANCE], rows, Limits(40))

    exact = [render(tree_of(one.form)) for one in found if one.validation_error < 1e-9]
    wanted = shape(canonical(parse("sqrt((x - y)**2 + (z - w)**2)")))
    assert exact
    assert any(shape(one.form) == wanted for one in found)
