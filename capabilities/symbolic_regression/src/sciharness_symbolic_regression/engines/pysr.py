"""PySR as an engine: its settings, its table of equations, its names; nothing is downloaded.

Stated behaviour is that of PySR 2.7. Runs are deterministic: one thread, a
seed, a bound of evaluations. What is found on the way is read from the file
that PySR keeps, so that a killed run leaves its front.
"""

from __future__ import annotations

import csv
import os
import re
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sciharness_publisher.expression import (
    Expression,
    ExpressionError,
    Name,
    parse,
    render,
)
from sciharness_symbolic_regression.engines.base import Attempt, Findings, Report
from sciharness_symbolic_regression.engines.julia import missing
from sciharness_symbolic_regression.formulas.rewriting import replaced
from sciharness_symbolic_regression.samples.sample import Sample

BINARY: Mapping[str, str] = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "^"}
UNARY = (
    "square", "sqrt", "cbrt", "exp", "log", "sin", "cos", "tan", "tanh", "abs", "asin", "acos",
    "atan", "sinh", "cosh",
)  # fmt: skip
# functions of PySR's tables that a formula here writes with operators
WRITTEN: Mapping[str, str] = {
    "square": "(({0})**2)", "cube": "(({0})**3)", "inv": "(1/({0}))", "neg": "(-({0}))",
}  # fmt: skip
ALIASES: Mapping[str, str] = {
    "safe_log": "log", "safe_sqrt": "sqrt", "safe_asin": "asin", "safe_acos": "acos",
}  # fmt: skip
EXACT = 1e-20  # mean squared error relative to the variance that double precision ends at
WATCH_SECONDS = 1.0
LONGEST = 20_000


class PySR:
    """The optional engine; runs where Julia is ready."""

    name = "pysr"
    operators = frozenset({*BINARY, *UNARY})

    def unavailable(self) -> str | None:
        """Return what PySR lacks here and what to do, or None."""
        return missing()

    def search(self, sample: Sample, attempt: Attempt, report: Report) -> Findings:
        """Run PySR for ``attempt.max_evaluations`` and return its front."""
        os.environ["PYTHON_JULIAPKG_OFFLINE"] = "yes"
        import pysr  # starts Julia; only ever loaded in the search's own process

        columns = np.column_stack(list(sample.columns.values()))
        names = numbered(len(sample.symbols))
        with tempfile.TemporaryDirectory(prefix="pysr") as folder:
            regressor = pysr.PySRRegressor(**settings(attempt, folder))
            watch = _Watch(Path(folder), sample, attempt, report)
            with watch:
                regressor.fit(columns, sample.target, weights=sample.weights, variable_names=names)
            table = regressor.equations_
        rows = zip(table["equation"], table["loss"], strict=True)
        return findings(rows, sample, attempt.max_evaluations)


def settings(attempt: Attempt, folder: str) -> dict[str, Any]:  # Any: PySR's values
    """Return PySR's settings for an attempt; all that makes a run repeatable is set."""
    return {
        "binary_operators": [BINARY[name] for name in attempt.operators if name in BINARY],
        "unary_operators": [name for name in attempt.operators if name in UNARY],
        "niterations": 10**6,
        "max_evals": attempt.max_evaluations,
        "maxsize": max(7, attempt.max_complexity),
        "precision": 64,
        "elementwise_loss": "L2DistLoss()" if attempt.loss == "squared" else "L1DistLoss()",
        "early_stop_condition": f"stop(loss, complexity) = loss < {EXACT}",
        "parallelism": "serial",
        "deterministic": True,
        "random_state": attempt.seed % 2**31,
        "batching": False,
        "model_selection": "accuracy",
        "output_directory": folder,
        "temp_equation_file": False,
        "verbosity": 0,
        "progress": False,
    }


def numbered(count: int) -> list[str]:
    """Return the names that columns have inside PySR, which allows few characters."""
    return [f"x{place}" for place in range(1, count + 1)]


def findings(
    rows: Iterable[tuple[Any, Any]], sample: Sample, evaluations: int
) -> Findings:  # Any: cells of PySR's table
    """Return a table of equations and losses as formulas over the sample's symbols.

    Equations that are not in the grammar of formulas are left out.
    """
    formulas: dict[str, None] = {}
    best = float("inf")
    for equation, loss in rows:
        try:
            formulas[render(translated(str(equation), sample.symbols))] = None
            best = min(best, float(loss))
        except (ExpressionError, ValueError):
            continue
    relative = best / sample.spread**2
    error = float(np.sqrt(relative)) if np.isfinite(relative) else 1.0
    return Findings(tuple(formulas), evaluations, error, relative <= EXACT)


def translated(text: str, symbols: Sequence[str]) -> Expression:
    """Return an equation of PySR as a formula over ``symbols``.

    Raises:
        ExpressionError: it uses a function or name that is not known here.

    >>> render(translated("square(x1 + 2.0) - inv(x2)", ["speed", "t"]))
    '(speed + 2)**2 - 1/t'
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"an equation has at most {LONGEST} characters")
    text = re.sub(r"(?<=[\d.])f(?=[-+]?\d)", "e", text)  # 1.5f0 is single precision in Julia
    for alias, plain in ALIASES.items():
        text = re.sub(rf"\b{alias}\b", plain, text)
    text = _written(text).replace("^", "**")
    names = numbered(len(symbols))
    parts: dict[str, Expression] = {
        name: Name(symbol) for name, symbol in zip(names, symbols, strict=True)
    }
    return replaced(parse(text, names), parts)


def _written(text: str) -> str:
    """Return the text with functions that formulas do not have as operators."""
    pattern = re.compile(rf"\b({'|'.join(WRITTEN)})\(")
    while (match := pattern.search(text)) is not None:
        end = _closing(text, match.end())
        inner = text[match.end() : end]
        text = text[: match.start()] + WRITTEN[match[1]].format(inner) + text[end + 1 :]
    return text


def _closing(text: str, start: int) -> int:
    depth = 1
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise ExpressionError("expected ')' before the end")


class _Watch:
    """Reads the file of equations now and then while PySR runs, and tells what is there."""

    def __init__(self, folder: Path, sample: Sample, attempt: Attempt, report: Report) -> None:
        self._folder, self._sample, self._report = folder, sample, report
        self._evaluations = attempt.max_evaluations
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        told: tuple[str, ...] = ()
        while not self._ended.wait(WATCH_SECONDS):
            found = findings(written_so_far(self._folder), self._sample, 0)
            if found.formulas and found.formulas != told:
                self._report(found)
                told = found.formulas


def written_so_far(folder: Path) -> list[tuple[str, str]]:
    """Return equations and losses of the newest file of equations; none while there is none."""
    files = sorted(folder.rglob("hall_of_fame*.csv"))
    rows: list[tuple[str, str]] = []
    for path in files[-1:]:
        try:
            with path.open(encoding="utf-8", newline="") as stream:
                for row in csv.DictReader(stream):
                    rows.append((str(row["Equation"]), str(row["Loss"])))
        except (OSError, KeyError, UnicodeDecodeError, csv.Error):
            return []
    return rows
