"""Benchmark problems: a formula, ranges, units, rows, noise; data are drawn from a seed.

Every suite is a CSV of ``suites/``. A range is ``name=low:high`` (uniform),
``name=low~high`` (uniform in the logarithm) or ``name=first..last`` (whole
numbers). Units read ``name=unit`` and ``->unit`` of the target. Names called
``z0``, ``z1``, ... have no effect. Noise is relative to the target's spread.

``measured`` holds real data instead: a file whose last column is the target,
and the law that the field accepts, with its published constants. All rows are
seen there, and test errors are those against the accepted law.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import Expression, names_in, parse

Array = NDArray[np.float64]

SUITES = Path(__file__).parent / "suites"
SYNTHETIC = ("development", "feynman", "nguyen", "keijzer", "livermore", "empirical", "odes")
MEASURED = "measured"
EVERYDAY = 24
KEPT_BACK = 0.2
_RANGE = re.compile(r"(?P<name>\w+)=(?P<low>[^:~]+?)(?P<kind>:|~|\.\.)(?P<high>.+)")


@frozen
class Range:
    """Where a column's numbers come from; ``kind`` is ``:``, ``~`` or ``..`` (see above)."""

    low: float
    high: float
    kind: str = ":"

    def draw(self, random: np.random.Generator, rows: int) -> Array:
        """Return numbers (rows,)."""
        if self.kind == "..":
            return random.integers(int(self.low), int(self.high) + 1, rows).astype(np.float64)
        if self.kind == "~":
            return np.exp(random.uniform(np.log(self.low), np.log(self.high), rows))
        return random.uniform(self.low, self.high, rows)


@frozen
class Problem:
    """One law and how its data are drawn; ``noises`` are the settings of its suite."""

    suite: str
    name: str
    formula: str
    ranges: dict[str, Range]
    units: dict[str, str] = field(factory=dict)
    unit: str = ""
    rows: int = 200
    noises: tuple[float, ...] = (0.0,)
    file: str = ""

    @property
    def law(self) -> Expression:
        """The formula as a tree."""
        return parse(self.formula, self.ranges)


@frozen(eq=False)
class Data:
    """Drawn rows: ``noisy`` and ``exact`` targets, which rows an engine may see."""

    columns: dict[str, Array]
    noisy: Array
    exact: Array
    seen: NDArray[np.intp]
    kept_back: NDArray[np.intp]


def suite(name: str) -> list[Problem]:
    """Return the problems of one suite in order."""
    made = _measured if name == MEASURED else _problem
    with (SUITES / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return [made(name, row) for row in csv.DictReader(stream)]


def everyday() -> list[tuple[Problem, float]]:
    """Return 24 settings, drawn once from all suites with a fixed seed."""
    settings = [
        (problem, noise)
        for name in SYNTHETIC
        for problem in suite(name)
        for noise in problem.noises
    ]
    chosen = np.random.default_rng(24).choice(len(settings), EVERYDAY, replace=False)
    return [settings[place] for place in sorted(chosen.tolist())]


def draw(problem: Problem, noise: float, seed: int) -> Data:
    """Return data of a problem: the same for the same seed, rows 80 % to see."""
    if problem.file:
        return _taken(problem)
    text = f"{problem.suite}/{problem.name}"
    random = np.random.default_rng([seed, *text.encode()])
    columns = {name: one.draw(random, problem.rows * 4) for name, one in problem.ranges.items()}
    exact = np.broadcast_to(evaluate(problem.law, columns), (problem.rows * 4,))
    fit = np.flatnonzero(np.isfinite(exact))[: problem.rows]  # outside its domain: drawn anew
    if len(fit) < problem.rows:
        raise ValueError(f"{text} is undefined on most of its ranges")
    columns = {name: column[fit] for name, column in columns.items()}
    exact = exact[fit]
    noisy = exact + random.normal(0.0, 1.0, problem.rows) * noise * exact.std()
    order = random.permutation(problem.rows)
    kept = round(KEPT_BACK * problem.rows)
    return Data(columns, noisy, exact, np.sort(order[kept:]), np.sort(order[:kept]))


def _problem(name: str, row: dict[str, str]) -> Problem:
    units = dict(part.rsplit("=", 1) for part in row["units"].split() if "->" not in part)
    unit = next((part[2:] for part in row["units"].split() if part.startswith("->")), "")
    return Problem(
        name,
        row["name"],
        row["formula"],
        dict(_range(part) for part in row["ranges"].split()),
        units,
        unit,
        int(row["rows"]),
        tuple(float(part) for part in row["noise"].split("|")),
    )


def _measured(name: str, row: dict[str, str]) -> Problem:
    """Return a problem of real data: its ranges are the data's, its noise what the law leaves."""
    columns, target = _table(row["file"], tuple(names_in(parse(row["formula"]))))
    ranges = {key: Range(float(one.min()), float(one.max())) for key, one in columns.items()}
    exact = np.broadcast_to(evaluate(parse(row["formula"]), columns), target.shape)
    noise = float(np.sqrt(np.mean((target - exact) ** 2)) / exact.std())
    return Problem(
        name, row["name"], row["formula"], ranges, rows=len(target), noises=(round(noise, 6),),
        file=row["file"],
    )  # fmt: skip


def _taken(problem: Problem) -> Data:
    columns, target = _table(problem.file, tuple(names_in(problem.law)))
    exact = np.broadcast_to(evaluate(problem.law, columns), target.shape)
    rows = np.arange(len(target))
    return Data(columns, target, exact, rows, rows)


def _table(file: str, used: tuple[str, ...]) -> tuple[dict[str, Array], Array]:
    """Return columns and target; a column that the law does not name takes its one name."""
    with (SUITES / file).open(encoding="utf-8-sig", newline="") as stream:
        head, *rows = list(csv.reader(stream))
    numbers = np.array(rows, dtype=np.float64)
    names = head[:-1] if set(used) <= set(head[:-1]) else used
    return {name: numbers[:, place] for place, name in enumerate(names)}, numbers[:, -1]


def _range(text: str) -> tuple[str, Range]:
    match = _RANGE.fullmatch(text)
    if match is None:
        raise ValueError(f"no range: {text}")
    return match["name"], Range(float(match["low"]), float(match["high"]), match["kind"])
