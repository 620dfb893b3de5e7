"""Columns that enter only together are found, and a law in them is found through them."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import Binary, Call, Expression, Name, parse, render
from sciharness_symbolic_regression.engines.base import Attempt
from sciharness_symbolic_regression.laws.engine import Laws
from sciharness_symbolic_regression.laws.merging import Merge, Merges, merges
from sciharness_symbolic_regression.samples.sample import Array, Sample

TOGETHER = {
    "a - b": "exp(-(a - b)**2 / c) / c",
    "a/b": "c / (1 + (a / b)**2)",
    "a*b": "c * sin(a * b / 5) + c",
    "a**2 + b**2": "log(1 + a**2 + b**2) * c + c**2",
    "a + b**2": "sqrt(a + b**2) + 0.3 * c**2",
    "a*b**2": "c / (3 + a * b**2)",
}


def columns(rows: int = 300, seed: int = 0) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    return {name: random.uniform(1, 4, rows) for name in ("a", "b", "c")}


def targets(formula: str, noise: float = 0.0) -> tuple[dict[str, Array], Array]:
    table = columns()
    exact = np.asarray(evaluate(parse(formula), table))
    scatter = np.random.default_rng(1).normal(size=len(exact)) * noise * exact.std()
    return table, exact + scatter


@pytest.mark.parametrize(("combination", "formula"), TOGETHER.items())
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_columns_that_enter_together_are_one_column(
    combination: str, formula: str, noise: float
) -> None:
    found = merges(*targets(formula, noise))
    first = found.sample(Sample(*targets(formula), np.ones(300)))
    assert first is not None
    wanted = evaluate(parse(combination), columns())
    got = evaluate(found.steps[0].tree, columns())
    # the same combination up to a function of it, such as its inverse or square: equal order
    assert abs(rank_correlation(np.asarray(wanted), np.asarray(got))) > 0.999, render(
        found.steps[0].tree
    )


def test_angles_over_a_turn_merge_as_their_difference() -> None:
    # a logarithm of such a column would hide that only the difference counts
    random = np.random.default_rng(3)
    table = {name: random.uniform(0.0, 6.0, 300) for name in ("a", "b")}
    table["c"] = random.uniform(1.0, 30.0, 300)
    target = 1 + np.sqrt(1 + 2 * table["c"]) * np.cos(table["a"] - table["b"])
    found = merges(table, target)
    assert [render(step.tree) for step in found.steps] == ["a - b"]


def rank_correlation(one: Array, other: Array) -> float:
    ranks = [np.argsort(np.argsort(values)) for values in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1])


def test_a_column_with_the_name_of_a_merge_is_not_mistaken_for_it() -> None:
    table, target = targets("exp(-(a - b)**2 / c) / c")
    table["merged_0"] = table.pop("c")
    found = merges(table, target)
    assert [step.name for step in found.steps][:1] == ["merged_0_"]
    assert found.back(parse("merged_0_ * merged_0")) == parse("(a - b) * merged_0")


def test_columns_that_enter_apart_stay() -> None:
    table, target = targets("a * sin(b) + c**2 / (1 + b)")
    assert merges(table, target).steps == ()


def test_noise_alone_merges_nothing() -> None:
    noise = np.random.default_rng(2).normal(size=300)
    assert merges(columns(), noise).steps == ()


TREES = st.recursive(
    st.sampled_from([Name("merged_0"), Name("c")]),
    lambda inner: st.one_of(
        st.builds(Binary, st.sampled_from(["+", "-", "*"]), inner, inner),
        st.builds(Call, st.sampled_from(["sin", "cos", "tanh"]), inner),
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(tree=TREES, combination=st.sampled_from(sorted(TOGETHER)))
def test_a_formula_of_merged_columns_means_the_same_over_the_original_ones(
    tree: Expression, combination: str
) -> None:
    table = columns(20)
    step = Merges((Merge("merged_0", "a", "b", parse(combination)),))
    merged = step.sample(Sample(table, np.ones(20), np.ones(20)))
    assert merged is not None and set(merged.columns) == {"merged_0", "c"}
    there, here = evaluate(tree, merged.columns), evaluate(step.back(tree), table)
    assert np.allclose(there, here, rtol=1e-12, atol=1e-12, equal_nan=True)


@pytest.mark.slow
def test_a_law_with_nine_columns_is_found_through_its_differences() -> None:
    random = np.random.default_rng(3)
    table = {name: random.uniform(1, 2, 500) for name in ("m1", "m2", "x2", "y2", "z2")}
    table |= {name: random.uniform(3, 4, 500) for name in ("x1", "y1", "z1")}
    law = "m1 * m2 / ((x1 - x2)**2 + (y1 - y2)**2 + (z1 - z2)**2)"
    sample = Sample(table, np.asarray(evaluate(parse(law), table)), np.ones(500))
    attempt = Attempt("laws", 0, (), 40, 40_000, stage="merged")
    found = Laws().search(sample, attempt, lambda said: None)
    assert found.exact
    best = parse(found.formulas[-1])
    assert np.allclose(evaluate(best, table), sample.target, rtol=1e-8)
    # without the merges the same tables of terms do not hold the law
    assert not Laws().search(sample, evolve(attempt, stage="identity"), lambda said: None).exact
