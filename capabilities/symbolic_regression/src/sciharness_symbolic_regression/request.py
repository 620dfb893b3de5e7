"""What a caller may set for a search."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen, validators

Operator = Literal[
    "add", "sub", "mul", "div", "pow", "square", "sqrt", "cbrt", "exp", "log", "sin", "cos",
    "tan", "tanh", "abs", "asin", "acos", "atan", "sinh", "cosh",
]  # fmt: skip
Alphabet = Literal["auto", "arithmetic", "algebraic", "exponential", "trigonometric"]

ARITHMETIC: tuple[Operator, ...] = ("add", "sub", "mul", "div")
ALGEBRAIC: tuple[Operator, ...] = (*ARITHMETIC, "square", "sqrt")
EXPONENTIAL: tuple[Operator, ...] = (*ARITHMETIC, "pow", "exp", "log")
TRIGONOMETRIC: tuple[Operator, ...] = (*ALGEBRAIC, "sin", "cos", "exp", "log")


@frozen
class SearchRequest:
    """Settings of ``symbolic_regression.search``; every one has a default that suits most tables.

    Work is bounded by counts, so a result does not depend on the machine's
    speed; only ``time_limit`` and a cancelled run end it earlier.
    """

    engine: Literal["auto", "operon", "pysr"] = field(
        default="auto",
        metadata={
            "help": "Search engine. auto is operon, or pysr where only that is ready; pysr needs "
            "the extra [pysr] and an installed Julia, and is never downloaded by a run."
        },
    )
    alphabet: Alphabet = field(
        default="auto",
        metadata={
            "help": "Operators to build formulas from: arithmetic (+ - * /), algebraic (also "
            "square, sqrt), exponential (arithmetic, pow, exp, log), trigonometric (algebraic, "
            "sin, cos, exp, log); auto takes the last three in turn."
        },
    )
    operators: tuple[Operator, ...] | None = field(
        default=None,
        validator=validators.optional(validators.min_len(1)),
        metadata={"help": "Exactly these operators in every restart, instead of an alphabet."},
    )
    max_complexity: int = field(
        default=40,
        validator=[validators.ge(3), validators.le(200)],
        metadata={
            "help": "Largest number of nodes of a formula: numbers, names, operators, functions."
        },
    )
    units: Literal["auto", "refuse", "mark", "ignore"] = field(
        default="auto",
        metadata={
            "help": "What units of the columns do: auto prefers formulas that are possible by "
            "units and searches dimensionless groups, refuse leaves out impossible ones, mark "
            "only tells which are, ignore reads no units. Constants count as plain numbers."
        },
    )
    loss: Literal["squared", "huber"] = field(
        default="squared",
        metadata={"help": "squared, or huber: large residuals count linearly, for outliers."},
    )
    max_evaluations: int = field(
        default=2_000_000,
        validator=[validators.ge(10_000), validators.le(10**12)],
        metadata={
            "help": "Bound of the whole search in formula evaluations (values and derivatives "
            "count): three quarters for the search, one quarter for the stability runs."
        },
    )
    restarts: int = field(
        default=9,
        validator=[validators.ge(1), validators.le(1000)],
        metadata={"help": "Independent searches with their own seeds that share the evaluations."},
    )
    validation: float = field(
        default=0.25,
        validator=[validators.ge(0.1), validators.le(0.5)],
        metadata={"help": "Share of the visible rows, or groups, kept back to choose a formula."},
    )
    stability_runs: int = field(
        default=4,
        validator=[validators.ge(0), validators.le(100)],
        metadata={
            "help": "Searches on random 80 % of the rows that show how often a structure returns."
        },
    )
    search_rows: int = field(
        default=1000,
        validator=[validators.ge(20), validators.le(1_000_000)],
        metadata={"help": "Rows, drawn at random, that an engine searches on; fits use more."},
    )
    nested: bool = field(
        default=False,
        metadata={"help": "Allow functions inside trigonometric ones and the reverse."},
    )
    out_of_domain: Literal["flag", "refuse"] = field(
        default="flag",
        metadata={"help": "What the predictor does with rows outside the training ranges."},
    )
    time_limit: float | None = field(
        default=None,
        validator=validators.optional(validators.gt(0)),
        metadata={"help": "Seconds after which the best so far is taken; then not reproducible."},
    )


@frozen
class BaselineRequest:
    """Settings of ``symbolic_regression.baseline``."""

    max_complexity: int = field(
        default=40,
        validator=[validators.ge(3), validators.le(200)],
        metadata={"help": "Largest number of nodes of a formula."},
    )
    validation: float = field(
        default=0.25,
        validator=[validators.ge(0.1), validators.le(0.5)],
        metadata={"help": "Share of the visible rows, or groups, kept back to choose a formula."},
    )
    out_of_domain: Literal["flag", "refuse"] = field(
        default="flag",
        metadata={"help": "What the predictor does with rows outside the training ranges."},
    )


@frozen
class CandidateRequest:
    """Settings of ``symbolic_regression.candidate``."""

    candidate: int = field(
        validator=validators.ge(0),
        metadata={"help": "Position in the candidates of formulas.json, from 0."},
    )
    out_of_domain: Literal["flag", "refuse"] = field(
        default="flag",
        metadata={"help": "What the predictor does with rows outside the training ranges."},
    )


def alphabets(request: SearchRequest) -> tuple[tuple[Operator, ...], ...]:
    """Return the operator sets that restarts take in turn."""
    if request.operators is not None:
        return (request.operators,)
    sets: dict[str, tuple[tuple[Operator, ...], ...]] = {
        "auto": (ALGEBRAIC, EXPONENTIAL, TRIGONOMETRIC),
        "arithmetic": (ARITHMETIC,),
        "algebraic": (ALGEBRAIC,),
        "exponential": (EXPONENTIAL,),
        "trigonometric": (TRIGONOMETRIC,),
    }
    return sets[request.alphabet]
