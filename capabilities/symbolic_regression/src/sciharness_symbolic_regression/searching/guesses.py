"""Formulas that the user brings: read by a whitelist, fitted, scored, in the race like all others.

The file of role ``guesses`` has one formula a line; ``#`` starts a comment, a
left side as in ``y = ...`` is left out, ``^`` is a power and ``ln`` a
logarithm. Columns go by their name, by their symbol in formulas (``X3``), by
their name without its unit, or by their full name in backticks. Nothing in it
is ever evaluated as a program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from sciharness.errors import DataError, HarnessError
from sciharness.plugin import Input
from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import (
    Expression,
    Name,
    complexity,
    parse,
    render,
)
from sciharness_symbolic_regression.finishing.candidates import (
    FULL_LOOK_ROWS,
    Candidate,
    candidate_of,
)
from sciharness_symbolic_regression.finishing.measures import measures
from sciharness_symbolic_regression.formulas.algebra import Undefined, canonical
from sciharness_symbolic_regression.formulas.forms import Sum, shape
from sciharness_symbolic_regression.formulas.rewriting import replaced
from sciharness_symbolic_regression.formulas.written import tree_of
from sciharness_symbolic_regression.samples.sample import Rows, Sample

MOST_BYTES = 1 << 18
MOST_GUESSES = 500
ITERATIONS = 200  # a guess may start far from its best constants
_LEFT_SIDE = re.compile(r"^[^=]*=(?!=)")
_UNIT = re.compile(r"\s*[\[(][^\])]*[\])]\s*$")

Json = dict[str, Any]  # Any: JSON values


@frozen
class Guess:
    """One formula of the file: its text there and its tree over the symbols of the search."""

    line: int
    text: str
    tree: Expression


@frozen(eq=False)
class Brought:
    """All formulas of the file, and each with its constants fitted where that can be done."""

    guesses: tuple[Guess, ...] = ()
    fitted: tuple[Candidate | None, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The formulas as texts, from which simpler ones may be derived."""
        return tuple(render(guess.tree) for guess in self.guesses)

    @property
    def usable(self) -> tuple[Candidate, ...]:
        """Those that could be fitted."""
        return tuple(one for one in self.fitted if one is not None)


def guesses_of(given: Input | None, names: Mapping[str, str]) -> tuple[Guess, ...]:
    """Return the formulas of an input of role guesses, none without one."""
    return () if given is None else read_guesses(given.path, names)


def read_guesses(path: Path, names: Mapping[str, str]) -> tuple[Guess, ...]:
    """Return the formulas of a file; ``names`` are column names by symbol.

    Raises:
        DataError: a line is no formula over the columns; all such lines are told.
    """
    lines = _lines(path)
    known = _spellings(names)
    found, problems = [], []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            found.append(Guess(number, text, _tree(text, known)))
        except HarnessError as error:
            problems.append(f"line {number}: {error.message}")
    if len(found) > MOST_GUESSES:
        problems = [f"at most {MOST_GUESSES} formulas, found {len(found)}"]
    if problems:
        raise DataError(
            "; ".join(problems[:5]),
            where=f"guesses {path.name}",
            hint=f"One formula a line over: {', '.join(sorted(known)[:20])}.",
        )
    return tuple(found)


def candidates_of(guesses: Sequence[Guess], rows: Rows, seed: int) -> tuple[Candidate | None, ...]:
    """Return each guess with its constants fitted, None where it cannot be.

    Limits of size do not hold for what a person wrote; all else is as for
    found formulas, which are fitted on the same rows.
    """
    rows = rows.thinned(FULL_LOOK_ROWS, seed)
    nonnegative = rows.train.nonnegative() & rows.validation.nonnegative()
    found: list[Candidate | None] = []
    for guess in guesses:
        try:
            form = canonical(guess.tree, nonnegative)
        except Undefined:
            found.append(None)
            continue
        found.append(candidate_of(form, rows, ITERATIONS))
    return tuple(found)


def document(brought: Brought, forms: Sequence[Sum], rows: Rows) -> list[Json]:
    """Return what formulas.json says of the guesses; ``forms`` are the candidates there."""
    shapes = [shape(form) for form in forms]
    return [
        _document(guess, candidate, shapes, rows)
        for guess, candidate in zip(brought.guesses, brought.fitted, strict=True)
    ]


def _document(guess: Guess, candidate: Candidate | None, shapes: Sequence[str], rows: Rows) -> Json:
    own = shape(candidate.form) if candidate else None
    return {
        "line": guess.line,
        "formula": render(guess.tree),
        "complexity": complexity(guess.tree),
        "metrics": {
            "train": _measures(guess.tree, rows.train),
            "validation": _measures(guess.tree, rows.validation),
        },
        "fitted": None if candidate is None else _fitted(candidate, rows),
        "candidate": shapes.index(own) if own in shapes else None,
    }


def _fitted(candidate: Candidate, rows: Rows) -> Json:
    tree = tree_of(candidate.form)
    return {
        "formula": render(tree),
        "metrics": {
            "train": _measures(tree, rows.train),
            "validation": _measures(tree, rows.validation),
        },
    }


def _measures(tree: Expression, sample: Sample) -> dict[str, float]:
    """Return the measures of a tree as it is; empty where it is undefined."""
    with np.errstate(all="ignore"):
        values = np.broadcast_to(evaluate(tree, sample.columns), sample.target.shape)
    return dict(measures(values, sample.target)) if np.isfinite(values).all() else {}


def _lines(path: Path) -> list[str]:
    with path.open("rb") as stream:
        block = stream.read(MOST_BYTES + 1)
    if len(block) > MOST_BYTES:
        raise DataError(f"at most {MOST_BYTES} bytes, found more", where=f"guesses {path.name}")
    try:
        return block.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"no UTF-8 text: {error}", where=f"guesses {path.name}") from error


def _spellings(names: Mapping[str, str]) -> dict[str, str]:
    """Return symbols by the ways in which a formula may name them; unclear short names are out."""
    spelled = {symbol: symbol for symbol in names}
    short: dict[str, list[str]] = {}
    for symbol, name in names.items():
        short.setdefault(_UNIT.sub("", name).strip(), []).append(symbol)
    for name, symbols in short.items():
        if len(symbols) == 1 and name.isidentifier():
            spelled.setdefault(name, symbols[0])
    return spelled | {f"`{name}`": symbol for symbol, name in names.items()}


def _tree(text: str, known: Mapping[str, str]) -> Expression:
    text = _LEFT_SIDE.sub("", text)
    quoted: dict[str, str] = {}

    def hide(match: re.Match[str]) -> str:
        if match[0] not in known:
            raise DataError(f"unknown column {match[0]}")
        name = f"quoted{len(quoted)}_"
        quoted[name] = known[match[0]]
        return name

    text = re.sub(r"`[^`]*`", hide, text).replace("^", "**")
    text = re.sub(r"\bln\s*\(", "log(", text)
    plain = {name: symbol for name, symbol in known.items() if not name.startswith("`")}
    tree = parse(text, {*plain, *quoted, "pi"} if "pi" not in plain else {*plain, *quoted})
    parts: dict[str, Expression] = {name: Name(symbol) for name, symbol in (plain | quoted).items()}
    if "pi" not in plain:
        parts["pi"] = parse(repr(float(np.pi)))
    return replaced(tree, parts)
