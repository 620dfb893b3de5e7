"""What a caller may set for a search for dynamics."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from sciharness_symbolic_regression.request import SearchRequest

Term = Literal[
    "diff", "sin_diff", "cos_diff", "tanh_diff", "diff_cubed",
    "source", "source_squared", "sin_source", "tanh_source", "saturating_source", "degree",
]  # fmt: skip


@frozen
class DynamicsRequest(SearchRequest):
    """Settings of ``symbolic_regression.dynamics``: those of a search, and how samples are made."""

    variable: str | None = field(
        default=None,
        metadata={
            "help": "Variable whose rate of change is wanted; by default the only one that is no "
            "relation and lies along the time axis."
        },
    )
    time: str = field(default="time", metadata={"help": "Axis of time, with numbers of its own."})
    relation: str | None = field(
        default=None,
        metadata={"help": "Relation to sum over; by default the only one of the directory."},
    )
    orientation: Literal["auto", "target_first", "source_first"] = field(
        default="auto",
        metadata={
            "help": "Which endpoint of a relation feels the other; auto follows the names target "
            "and source of its axis, else the first one feels the second."
        },
    )
    terms: tuple[Term, ...] | None = field(
        default=None,
        metadata={
            "help": "Sums over neighbours j of i to offer as columns: diff is x_j - x_i, source "
            "is x_j, saturating_source is x_j/(1+x_j), degree counts them. By default all that "
            "are defined."
        },
    )
    smoothing: Literal["spline", "differences"] = field(
        default="spline",
        metadata={
            "help": "How derivatives are taken: smoothing splines whose stiffness is chosen by "
            "generalised cross-validation, or central differences for exact data."
        },
    )
    own_rates: Literal["auto", "yes", "no"] = field(
        default="auto",
        metadata={
            "help": "Offer a rate of each node's own as a column; auto does so if an information "
            "criterion says that nodes differ."
        },
    )
    wrapped: bool = field(
        default=False,
        metadata={"help": "The variable is an angle that jumps by 2 pi; jumps are taken out."},
    )
