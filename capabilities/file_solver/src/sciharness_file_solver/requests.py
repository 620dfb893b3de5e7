"""What can be chosen for each operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen
from attrs.validators import ge, gt, le, lt

CASE = {"help": "Seconds that one case may take before it counts as failed."}


@frozen
class SampleRequest:
    """Which cases a solver is asked."""

    ranges: Mapping[str, tuple[float, float]] = field(
        metadata={"help": "Lowest and highest value of each input column of the solver."}
    )
    count: int = field(
        default=1000, validator=[ge(16), le(1_000_000)], metadata={"help": "Cases in all."}
    )
    design: Literal["sobol", "latin_hypercube"] = field(
        default="sobol", metadata={"help": "How the even part of the cases fills the ranges."}
    )
    adaptive: float = field(
        default=0.4,
        validator=[ge(0.0), le(0.9)],
        metadata={"help": "Share of the cases put where models of the answers disagree."},
    )
    case_seconds: float = field(default=60.0, validator=gt(0.0), metadata=CASE)


@frozen
class TrainRequest:
    """How a surrogate is made, and how sure it has to be of an answer."""

    target: str = field(
        default="", metadata={"help": "Output column to predict; default the first."}
    )
    tolerance: float = field(
        default=0.05,
        validator=gt(0.0),
        metadata={
            "help": "Error that an answer may have, as a share of the target's root mean square."
        },
    )
    miss_rate: float = field(
        default=0.05,
        validator=[gt(0.0), lt(0.5)],
        metadata={"help": "Share of answers that may exceed their error bound."},
    )
    families: tuple[Literal["polynomial", "gaussian_process", "trees"], ...] = field(
        default=("polynomial", "gaussian_process", "trees"),
        metadata={"help": "Kinds of surrogates that are compared."},
    )
    folds: int = field(
        default=5, validator=[ge(2), le(20)], metadata={"help": "Parts of the cross-validation."}
    )
    case_seconds: float = field(default=60.0, validator=gt(0.0), metadata=CASE)


@frozen
class BenchmarkRequest:
    """How a hybrid is measured against its solver."""

    queries: int = field(
        default=10_000,
        validator=[ge(100), le(10_000_000)],
        metadata={"help": "Rows that the hybrid predicts, drawn evenly from its domain."},
    )
    compared: int = field(
        default=1000,
        validator=ge(20),
        metadata={"help": "Of these, rows that the solver answers too; its time is scaled up."},
    )
    outside: int = field(
        default=40,
        validator=ge(2),
        metadata={"help": "Further rows outside the domain, which have to go to the solver."},
    )


@frozen
class AdapterRequest:
    """Nothing has to be chosen: the contract's ``solver:`` block says how it is called."""

    case_seconds: float = field(default=60.0, validator=gt(0.0), metadata=CASE)
