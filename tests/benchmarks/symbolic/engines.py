"""What is compared: our search, raw pyoperon with its best pick, gplearn; same seconds."""

from __future__ import annotations

import csv
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from problems import Array, Data, Problem

from sciharness_publisher.expression import Binary, Call, Expression, Name, Number, parse

WORKERS = 2


@frozen
class Setting:
    """One line of the table before it is measured."""

    problem: Problem
    noise: float
    seed: int
    seconds: float
    units: bool
    options: Mapping[str, Any]  # Any: request fields


@frozen
class Found:
    """A formula, why the engine stopped and the seconds that it took.

    ``fitted`` is the same with every constant as fitted, where plain values stand in it;
    ``searching`` are the seconds until the search had ended, before choice and stability runs.
    """

    formula: Expression
    stopped: str
    seconds: float
    fitted: Expression | None = None
    searching: float | None = None


def portfolio(setting: Setting, data: Data) -> Found:
    """Run ``symbolic_regression.search`` as a run would, on two workers."""
    return _searched(setting, data)


def leaving_out(part: str) -> Callable[[Setting, Data], Found]:
    """Return the portfolio without a part: a stage of the laws, ``growth`` or ``operon``."""

    def search(setting: Setting, data: Data) -> Found:
        from sciharness_symbolic_regression.searching.search import Search

        whole = Search.race

        def race(self: Any, attempts: Any, teller: Any, enough: Any) -> bool:
            left = [one for one in attempts if part not in (one.engine, one.stage)]
            return bool(whole(self, left, teller, enough))

        Search.race = race  # type: ignore[method-assign]
        return _searched(setting, data)

    return search


def engine_named(name: str) -> Callable[[Setting, Data], Found]:
    """Return an engine by its name; ``portfolio-PART`` is the portfolio without a part."""
    whole, _, part = name.partition("-")
    return leaving_out(part) if part else ENGINES[whole]


def _searched(setting: Setting, data: Data) -> Found:
    from sciharness import Context, Input, Table
    from sciharness_symbolic_regression.plugin import search
    from sciharness_symbolic_regression.request import SearchRequest

    problem = setting.problem
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "data.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow([*data.columns, "target"])
            columns = [*data.columns.values(), data.noisy]
            writer.writerows(zip(*(column[data.seen].tolist() for column in columns), strict=True))
        units = problem.units | {"target": problem.unit} if setting.units else {}
        table = Table(
            target="target",
            features=tuple(data.columns),
            units={name: unit for name, unit in units.items() if unit},
        )
        steps: dict[str, float] = {}

        def hear(event: Mapping[str, Any]) -> None:  # Any: JSON values
            if "progress" in event:
                steps.setdefault(event["progress"]["message"], time.monotonic())

        context = Context(
            inputs={"data": Input("data", path, "DATASET", "labelled_table", table)},
            workspace=folder,
            seed=setting.seed,
            workers=WORKERS,
            time_limit=setting.seconds,
            emit=hear,
        )
        request = SearchRequest(time_limit=setting.seconds, **setting.options)
        started = time.monotonic()
        search(request, context)
        took = time.monotonic() - started
        document = json.loads((folder / "outputs" / "formulas.json").read_text("utf-8"))
    chosen = document["candidates"][document["chosen"]]
    fitted = parse(chosen["as_fitted"])
    searching = steps["fitting and choosing"] - started
    return Found(parse(chosen["formula"]), document["stop_reason"], took, fitted, searching)


def operon(setting: Setting, data: Data) -> Found:
    """Run pyoperon as in its manual; from its front take what the BIC prefers."""
    from pyoperon.sklearn import SymbolicRegressor

    table = np.column_stack(list(data.columns.values()))[data.seen]
    target = data.noisy[data.seen]
    regressor = SymbolicRegressor(
        allowed_symbols="add,sub,mul,div,sin,cos,exp,log,sqrt,square,constant,variable",
        objectives=["r2", "length"],
        population_size=1000,
        pool_size=1000,
        max_length=40,
        optimizer="lm",
        optimizer_iterations=1,
        epsilon=1e-6,
        generations=10**6,
        max_evaluations=10**9,
        max_time=int(setting.seconds),
        n_threads=WORKERS,
        random_state=setting.seed + 1,
    )
    started = time.monotonic()
    regressor.fit(table, target)
    took = time.monotonic() - started
    best, text = np.inf, "0"
    for member in regressor.pareto_front_:
        errors = np.asarray(regressor.evaluate_model(member["tree"], table)).ravel() - target
        loss = float(np.mean(errors**2)) / float(target.var())
        if np.isfinite(loss):
            score = len(target) * np.log(max(loss, 1e-14)) + member["length"] * np.log(len(target))
            if score < best:
                best, text = score, regressor.get_model_string(member["tree"], 20)
    return Found(_renamed(text, list(data.columns)), "time_limit", took)


def gplearn(setting: Setting, data: Data) -> Found:
    """Run gplearn one generation after the other until the seconds are over."""
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    def bounded_exp(x: Array) -> Array:
        return np.exp(np.clip(x, -50.0, 50.0))

    grown = make_function(function=bounded_exp, name="exp", arity=1)
    table = np.column_stack(list(data.columns.values()))[data.seen]
    regressor = SymbolicRegressor(
        population_size=1000,
        generations=1,
        function_set=("add", "sub", "mul", "div", "sin", "cos", "log", "sqrt", grown),
        parsimony_coefficient=1e-3,
        warm_start=True,
        random_state=setting.seed,
    )
    started = time.monotonic()
    while time.monotonic() - started < setting.seconds:
        regressor.fit(table, data.noisy[data.seen])
        regressor.set_params(generations=regressor.generations + 1)
    took = time.monotonic() - started
    names = list(data.columns)
    return Found(_from_prefix(list(regressor._program.program), names), "time_limit", took)


ENGINES: Mapping[str, Callable[[Setting, Data], Found]] = {
    "portfolio": portfolio,
    "operon": operon,
    "gplearn": gplearn,
}


def _renamed(text: str, names: list[str]) -> Expression:
    """Return Operon's text, whose columns are X1..Xn, over the names of the problem."""
    from sciharness_publisher.expression import Negative

    def rename(tree: Expression) -> Expression:
        if isinstance(tree, Name):
            return Name(names[int(tree.name[1:]) - 1])
        if isinstance(tree, Binary):
            return Binary(tree.operator, rename(tree.left), rename(tree.right))
        if isinstance(tree, Call):
            return Call(tree.function, rename(tree.argument))
        return Negative(rename(tree.operand)) if isinstance(tree, Negative) else tree

    return rename(parse(text.replace("^", "**")))


def _from_prefix(program: list[Any], names: list[str]) -> Expression:  # Any: gplearn's nodes
    """Return gplearn's prefix list as a tree; its protected functions become plain ones."""
    joined = {"add": "+", "sub": "-", "mul": "*", "div": "/"}

    def read() -> Expression:
        node = program.pop(0)
        if isinstance(node, int | np.integer):
            return Name(names[int(node)])
        if isinstance(node, float | np.floating):
            return Number(float(node))
        if node.name in joined:
            left = read()
            return Binary(joined[node.name], left, read())
        argument = read()
        if node.name in {"log", "sqrt"}:
            return Call(node.name, Call("abs", argument))
        return Call(node.name, argument)

    return read()
