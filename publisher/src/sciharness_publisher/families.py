"""Families of trained models that the predictor writer takes: polynomials and trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from attrs import field, frozen

from sciharness_publisher.predictor import Column, Interval

Json = dict[str, Any]  # Any: JSON values
Link = Literal["identity", "probability", "sigmoid", "softmax"]


def _floats(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(map(float, values))


@frozen
class PolynomialModel:
    """Sums of products of columns, each column less its shift and over its scale.

    A term lists places of columns in rising order; the term without its last
    place has to come earlier. There is one intercept and one row of
    coefficients for each output. ``link`` says what outputs are: the
    prediction itself, or what probabilities are made of (``sigmoid`` of one
    output, of the second of two classes, ``softmax`` of one output per class).
    """

    target: str
    columns: tuple[Column, ...]
    shift: tuple[float, ...] = field(converter=_floats)
    scale: tuple[float, ...] = field(converter=_floats)
    terms: tuple[tuple[int, ...], ...]
    intercepts: tuple[float, ...] = field(converter=_floats)
    coefficients: tuple[tuple[float, ...], ...]
    link: Link = "identity"
    unit: str | None = None
    out_of_domain: Literal["flag", "refuse"] = "flag"
    interval: Interval | None = None
    kind: str = field(default="polynomial", init=False)
    inference: str = field(default="polynomial", init=False)

    @property
    def degree(self) -> int:
        """Number of factors of the longest term."""
        return max(map(len, self.terms), default=0)

    def payload(self) -> Json:
        """Return scaling, terms and coefficients."""
        return {
            "link": self.link,
            "shift": list(self.shift),
            "scale": list(self.scale),
            "terms": [list(term) for term in self.terms],
            "intercepts": list(self.intercepts),
            "coefficients": [list(row) for row in self.coefficients],
        }

    def describe(self) -> str:
        """Return what the model is in a sentence."""
        form = "linear sum" if self.degree < 2 else f"polynomial of degree {self.degree}"
        made = "" if self.link == "identity" else f", made into probabilities by a {self.link}"
        count = len(self.terms)
        terms = f"{count} term{'' if count == 1 else 's'}"
        return f"The model is a {form} of {len(self.columns)} scaled columns ({terms}){made}."


@frozen
class Tree:
    """A decision tree; nodes are in the order in which a walk left child first meets them.

    ``feature`` gives each node's column, -1 for a leaf; ``threshold`` and
    ``right`` are those of inner nodes: a value up to the threshold goes to the
    next node, any other to the node ``right``. ``value`` holds what each leaf
    adds to the outputs from ``output`` on, leaf after leaf.
    """

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]
    output: int = 0

    def document(self) -> Json:
        """Return the tree as it stands in model.json."""
        return {
            "output": self.output,
            "feature": list(self.feature),
            "threshold": list(self.threshold),
            "right": list(self.right),
            "value": list(self.value),
        }


@frozen
class TreesModel:
    """A sum of decision trees: ``start`` plus what the trees add, over ``divisor``.

    With ``single_precision`` columns and thresholds are compared as float32,
    columns before less ``shift`` and over ``scale`` where these are given.
    ``link`` says what outputs are: the prediction, probabilities (one output
    is that of the second of two classes), or what ``sigmoid`` (one output, two
    classes) and ``softmax`` make probabilities of.
    """

    target: str
    columns: tuple[Column, ...]
    trees: tuple[Tree, ...]
    start: tuple[float, ...] = field(converter=_floats)
    divisor: float = 1.0
    single_precision: bool = False
    shift: tuple[float, ...] = field(default=(), converter=_floats)
    scale: tuple[float, ...] = field(default=(), converter=_floats)
    link: Link = "identity"
    unit: str | None = None
    out_of_domain: Literal["flag", "refuse"] = "flag"
    interval: Interval | None = None
    kind: str = field(default="trees", init=False)
    inference: str = field(default="trees", init=False)

    def payload(self) -> Json:
        """Return the trees and how their values become outputs."""
        return {
            "link": self.link,
            "start": list(self.start),
            "divisor": self.divisor,
            "single_precision": self.single_precision,
            "shift": list(self.shift),
            "scale": list(self.scale),
            "trees": [tree.document() for tree in self.trees],
        }

    def describe(self) -> str:
        """Return what the model is in a sentence."""
        joined = "sum" if self.divisor == 1.0 else "mean"
        leaves = sum(tree.feature.count(-1) for tree in self.trees)
        made = "" if self.link in ("identity", "probability") else f", {self.link} of it"
        return (
            f"The model is the {joined} of {len(self.trees)} decision trees "
            f"with {leaves} leaves on {len(self.columns)} columns{made}."
        )
