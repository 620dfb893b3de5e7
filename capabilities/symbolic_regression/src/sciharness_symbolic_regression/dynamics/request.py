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
    weighted: bool = field(
        default=True,
        metadata={"help": "Sums multiply each term by the weight of its edge, if there are any."},
    )
    edge_weight: str | None = field(
        default=None,
        metadata={
            "help": "Variable with a weight of each edge, or of each edge at each time; by "
            "default the only variable whose structure is the relation."
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
    rates: Literal["auto", "weak", "spline", "differences"] = field(
        default="auto",
        metadata={
            "help": "How rates are taken. spline: slopes of smoothing splines whose stiffness is "
            "chosen by generalised cross-validation. weak: formulas are found on those, then "
            "fitted and compared on averages over windows that need no slope of noisy values. "
            "differences: central differences, for exact values. auto is weak where values are "
            "noisy and at least 40 times are there, else spline."
        },
    )
    own_rates: Literal["auto", "yes", "no"] = field(
        default="auto",
        metadata={
            "help": "Offer a rate of each node's own as a column; auto does so if an information "
            "criterion says that nodes differ."
        },
    )
    constant_nodes: Literal["refuse", "leave_out", "keep"] = field(
        default="refuse",
        metadata={
            "help": "What to do with nodes whose values never change, as of a dead sensor: "
            "leave_out searches the other nodes, whose neighbours they stay."
        },
    )
    wrapped: bool = field(
        default=False,
        metadata={"help": "The variable is an angle that jumps by 2 pi; jumps are taken out."},
    )
