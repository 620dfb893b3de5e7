"""The engine: its formulas mean what Operon computes, and it keeps to its bounds."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from sciharness.errors import HarnessError
from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import Number, parse
from sciharness_symbolic_regression.engines import engine_named, operon
from sciharness_symbolic_regression.engines.base import Attempt, Findings
from sciharness_symbolic_regression.engines.operon import NATIVE, Operon, Scales, _tree
from sciharness_symbolic_regression.request import SearchRequest, alphabets
from sciharness_symbolic_regression.samples.sample import Sample
from sciharness_symbolic_regression.searching.portfolio import restarts
from sciharness_symbolic_regression.searching.race import Stop
from sciharness_symbolic_regression.searching.search import Search, SearchFailed

ALL = tuple(name for name in NATIVE if name not in {"acos", "asin", "cosh", "sinh"})


def sample(rows=120, seed=0):
    random = np.random.default_rng(seed)
    columns = {name: random.uniform(0.5, 3.0, rows) for name in ("a", "b", "c")}
    target = columns["a"] * columns["b"] + np.sin(columns["c"])
    return Sample(columns, target, np.ones(rows))


def attempt(**changes):
    return evolve(Attempt("operon", 5, ALL, 30, 20_000), **changes)


def told(findings):
    return None


def test_formulas_have_the_error_that_is_told():
    data = sample()

    found = Operon().search(data, attempt(), told)

    errors = []
    for text in found.formulas:
        values = evaluate(parse(text, data.symbols), data.columns)
        errors.append(np.sqrt(np.mean((values - data.target) ** 2)) / data.spread)
    # Operon works in single precision: about seven digits
    assert min(errors) == pytest.approx(found.error, rel=1e-3)


def test_trees_are_read_as_operon_computes_them():
    import pyoperon

    random = np.random.default_rng(1)
    table = random.uniform(0.5, 2.0, (50, 3))
    data = pyoperon.Dataset(np.asfortranarray(table))
    variables = sorted(data.Variables, key=lambda variable: variable.Index)
    names = {variable.Hash: f"x{i}" for i, variable in enumerate(variables)}
    columns = {f"x{i}": table[:, i] for i in range(3)}

    def leaf(node):
        if node.IsConstant:
            return Number(float(node.Value))
        return parse(f"{float(node.Value)!r}*{names[node.HashValue]}")

    for seed in range(40):
        tree = grown(pyoperon, data, variables, seed)
        wanted = np.asarray(
            pyoperon.Evaluate(pyoperon.DispatchTable(), tree, data, pyoperon.Range(0, 50))
        ).reshape(-1)
        found = np.broadcast_to(evaluate(_tree(tree.Nodes, leaf), columns), (50,))
        known = np.isfinite(wanted) & (np.abs(wanted) < 1e6)
        # single precision: a few rows may lie where differences of large numbers cancel
        close = np.isclose(found[known], wanted[known], rtol=1e-3, atol=1e-3)
        assert close.mean() > 0.9


def grown(op, data, variables, seed):
    problem = op.Problem(data)
    symbols = op.NodeType.Constant | op.NodeType.Variable
    for name in ("add", "sub", "mul", "div", "square", "sqrt", "tanh"):
        symbols |= getattr(op.NodeType, NATIVE[name])
    problem.ConfigurePrimitiveSet(symbols)
    primitives, inputs = problem.PrimitiveSet, [variable.Hash for variable in variables]
    creator = op.BalancedTreeCreator(primitives, inputs, 0.0)
    random = op.RandomGenerator(np.uint64(seed))
    coefficients = op.NormalCoefficientInitializer()
    coefficients.ParameterizeDistribution(1, 0.5)
    tree = creator(random, 14, 1, 8)
    coefficients(random, tree)
    return tree


def test_the_same_attempt_finds_the_same_formulas_and_another_seed_others():
    data = sample()

    first, second = (Operon().search(data, attempt(), told) for _ in range(2))
    other = Operon().search(data, attempt(seed=6), told)

    assert first == second
    assert other.formulas != first.formulas


def test_evaluations_stay_within_one_generation_of_the_bound():
    found = Operon().search(sample(), attempt(max_evaluations=10_000), told)

    # a generation is 1000 individuals with one value and up to two derivative sweeps each
    assert 0 < found.evaluations < 10_000 + 4000


def test_an_exact_fit_ends_the_search_early():
    data = sample()
    exact = Sample(data.columns, 3.0 * data.columns["a"] / data.columns["b"], data.weights)

    found = Operon().search(exact, attempt(max_evaluations=50_000_000), told)

    assert found.exact
    assert found.evaluations < 1_000_000


def test_findings_so_far_are_told_while_it_runs(monkeypatch):
    heard: list[Findings] = []
    monkeypatch.setattr(operon, "REPORT_SECONDS", 0.0)

    Operon().search(sample(), attempt(), heard.append)

    assert heard
    assert all(one.formulas for one in heard)


def test_scales_map_back_exactly():
    data = sample()
    shifted = {"a": 1e6 + 1e-2 * data.columns["a"], "b": data.columns["b"], "c": data.columns["c"]}
    moved = Sample(shifted, 1e9 + data.target, data.weights)

    scales = Scales.of(moved)
    table = scales.table(moved)
    tree = scales.target(scales.column(0, 2.0), 0.5, 0.25)

    values = evaluate(tree, moved.columns)
    wanted = (0.5 * 2.0 * table[:, 0] + 0.25) * scales.target_width + scales.target_centre
    assert np.abs(table).max() < 10
    assert np.allclose(values, wanted, rtol=1e-12)


def test_restarts_share_the_evaluations_and_take_alphabets_in_turn():
    request = SearchRequest(max_evaluations=1_000_000, restarts=6, stability_runs=4)

    attempts = restarts(request, "operon", seed=0)

    assert sum(one.max_evaluations for one in attempts) <= 750_000
    assert [one.operators for one in attempts] == [*alphabets(request), *alphabets(request)]
    assert len({one.seed for one in attempts}) == 6
    assert restarts(request, "operon", seed=0) == attempts


def test_a_small_bound_gives_fewer_restarts_not_shorter_ones():
    attempts = restarts(SearchRequest(max_evaluations=50_000, restarts=9), "operon", seed=0)

    assert len(attempts) == 1


class Broken:
    """An engine that dies like native code does."""

    name = "broken"
    operators = frozenset({"add"})

    def unavailable(self):
        return None

    def search(self, data, attempt, report):
        raise MemoryError("native code went wrong")


def test_an_engine_that_always_fails_is_a_typed_failure(tmp_path):
    from sciharness.plugin import Context

    context = Context(inputs={}, workspace=tmp_path)
    engines = {"broken": Broken(), "laws": Broken()}
    portfolio = Search(engines, sample(), SearchRequest(), context, Stop(None, lambda: False))

    with pytest.raises(SearchFailed, match="native code went wrong") as caught:
        portfolio.run("broken")

    assert isinstance(caught.value, HarnessError)


def test_auto_takes_operon_when_it_is_there():
    assert engine_named("auto").name == "operon"


def test_an_engine_that_is_not_installed_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(operon, "find_spec", lambda name: None)

    with pytest.raises(HarnessError, match="pip install pyoperon"):
        engine_named("operon")
