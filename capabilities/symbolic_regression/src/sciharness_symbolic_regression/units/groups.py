"""Dimensionless groups: the same law with fewer columns (Buckingham's theorem).

A view replaces columns by products of their powers without dimension, and
divides the target by a product that measures what the target measures. What
an engine finds there is possible whatever it looks like, and is written back
over the original columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations, islice

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_publisher.expression import Binary, Call, Expression, Name, Number
from sciharness_symbolic_regression.formulas.rewriting import replaced
from sciharness_symbolic_regression.samples.sample import Sample
from sciharness_symbolic_regression.units.dimensions import PURE, Dimension

Array = NDArray[np.float64]
Powers = tuple[tuple[str, Fraction], ...]  # columns and exponents, none of them zero

MOST_BASES = 400  # sets of repeating columns that are looked at
MOST_LOOKED_AT = 60
MOST_VIEWS = 4
SAME_GROUPS = 2
SIZE_COST = 4.0  # what a factor of e that the scale leaves open counts, in powers
DENOMINATORS = 6
LARGEST = 6
WEIGHT_RANGE = 1e3


@frozen
class View:
    """Groups by name and what the target is divided by; other columns stay as they are."""

    scale: Powers
    groups: tuple[tuple[str, Powers], ...]
    others: tuple[str, ...]

    def sample(self, sample: Sample) -> Sample | None:
        """Return the rows as the view shows them, or None where it is not defined on them.

        Weights follow the scale, so that errors count as they do in the original target.
        """
        with np.errstate(all="ignore"):
            scale = _values(self.scale, sample)
            columns = {name: _values(powers, sample) for name, powers in self.groups}
            target = sample.target / scale
        columns |= {name: sample.columns[name] for name in self.others}
        if not all(np.isfinite(one).all() for one in (scale, target, *columns.values())):
            return None
        size = np.square(scale / (np.median(np.abs(scale)) or 1.0))
        weights = sample.weights * np.clip(size, 1.0 / WEIGHT_RANGE, WEIGHT_RANGE)
        if not columns:
            columns = {"one_": np.ones_like(target)}
        return Sample(columns, target, weights / weights.mean())

    def back(self, tree: Expression) -> tuple[Expression, ...]:
        """Return a formula of the view over the original columns and target.

        A sum comes back twice: with the scale before it, and with the scale in each term.
        """
        parts: dict[str, Expression] = {name: _tree(powers) for name, powers in self.groups}
        tree = replaced(tree, parts | {"one_": Number(1.0)})
        if not self.scale:
            return (tree,)
        scale = _tree(self.scale)
        whole = Binary("*", scale, tree)
        is_sum = isinstance(tree, Binary) and tree.operator in {"+", "-"}
        return (whole, _in_each_term(scale, tree)) if is_sum else (whole,)


def views(
    columns: Mapping[str, Dimension],
    others: tuple[str, ...],
    target: Dimension,
    sample: Sample | None = None,
) -> tuple[View, ...]:
    """Return the simplest views of columns with dimensions, at most four.

    With a sample the simplest ones take turns with those whose scale follows
    the target's size. There is none where no product of the columns measures
    what the target does.
    """
    dimensional = [name for name, one in columns.items() if one != PURE]
    plain = tuple(name for name, one in columns.items() if one == PURE)
    table, wanted = _table([columns[name] for name in dimensional], target)
    if not dimensional:
        return ()
    found: dict[tuple[Powers, frozenset[Powers]], tuple[float, View]] = {}
    for base in islice(_bases(table), MOST_BASES):
        for cost, view in _views(dimensional, base, table, wanted, plain + others):
            key = (view.scale, frozenset(map(_turned, (powers for _, powers in view.groups))))
            found.setdefault(key, (cost, view))
    ranked = sorted(found.values(), key=lambda one: (one[0], str(one[1])))[:MOST_LOOKED_AT]
    plain_first = [view for _, view in ranked]
    if sample is None:
        return _varied(plain_first)
    sizes = {view: cost + SIZE_COST * _unexplained(view, sample) for cost, view in ranked}
    close_first = sorted(plain_first, key=lambda view: sizes[view])
    both = [view for pair in zip(plain_first, close_first, strict=True) for view in pair]
    return _varied(list(dict.fromkeys(both)))


def _in_each_term(scale: Expression, tree: Expression) -> Expression:
    if isinstance(tree, Binary) and tree.operator in {"+", "-"}:
        left, right = (_in_each_term(scale, side) for side in (tree.left, tree.right))
        return Binary(tree.operator, left, right)
    return Binary("*", scale, tree)


def _varied(ranked: list[View]) -> tuple[View, ...]:
    """Return the first views of which at most two have the same groups."""
    kept: list[View] = []
    for view in ranked:
        if sum(one.groups == view.groups for one in kept) < SAME_GROUPS:
            kept.append(view)
    return tuple(kept[:MOST_VIEWS])


def _bases(table: Array) -> Iterator[tuple[int, ...]]:
    """Yield sets of columns that measure everything the columns do, and no less than needed."""
    rank = int(np.linalg.matrix_rank(table)) if table.size else 0
    for base in combinations(range(table.shape[1]), rank):
        if np.linalg.matrix_rank(table[:, base]) == rank:
            yield base


def _views(
    names: list[str],
    base: tuple[int, ...],
    table: Array,
    wanted: Array,
    others: tuple[str, ...],
) -> Iterator[tuple[float, View]]:
    """Yield the views of one base: its groups, and scales that differ by a group."""
    scale = _powers(names, base, table, wanted)
    if scale is None:
        return
    groups: list[Powers] = []
    for place in range(len(names)):
        if place not in base:
            powers = _powers(names, base, table, -table[:, place])
            if powers is None:
                return
            groups.append(_upright(_times(powers, ((names[place], Fraction(1)),))))
    taken = {*names, *others}
    named = tuple((_free_name(number, taken), one) for number, one in enumerate(groups, start=1))
    cost = sum(map(_cost, groups))
    scales = [scale, *(_times(scale, one) for one in groups)]
    scales += [_times(scale, _turned_over(one)) for one in groups]
    for one in scales:
        yield cost + _cost(one), View(one, named, others)


def _unexplained(view: View, sample: Sample) -> float:
    """Return how far the target over the scale still ranges, in the logarithm."""
    with np.errstate(all="ignore"):
        size = np.log(np.abs(sample.target / _values(view.scale, sample)))
    size = size[np.isfinite(size)]
    return float(size.std()) if len(size) else np.inf


def _powers(names: list[str], base: tuple[int, ...], table: Array, wanted: Array) -> Powers | None:
    """Return the product of base columns that measures ``wanted``."""
    exponents, *_ = np.linalg.lstsq(table[:, base], wanted, rcond=None)
    plain = [Fraction(float(one)).limit_denominator(DENOMINATORS) for one in exponents]
    # a solution in small fractions is met to rounding; anything else has none
    if not np.allclose(table[:, base] @ np.array(plain, dtype=float), wanted, atol=1e-9):
        return None
    if any(abs(one) > LARGEST for one in plain):
        return None
    return tuple(sorted((names[place], one) for place, one in zip(base, plain, strict=True) if one))


def _times(left: Powers, right: Powers) -> Powers:
    """Return the product of two products."""
    powers = dict(left)
    for name, one in right:
        powers[name] = powers.get(name, Fraction(0)) + one
    return tuple(sorted((name, one) for name, one in powers.items() if one))


def _turned_over(powers: Powers) -> Powers:
    return tuple((name, -one) for name, one in powers)


def _turned(powers: Powers) -> Powers:
    """Return the group or one over it, whichever comes first: they are as good as each other."""
    return min(powers, _turned_over(powers))


def _upright(powers: Powers) -> Powers:
    """Return the group without roots where a power of it has none."""
    least = 1
    for _, one in powers:
        least = int(np.lcm(least, one.denominator))
    return tuple((name, one * least) for name, one in powers)


def _cost(powers: Powers) -> float:
    """Return how hard a product is to read: its powers, its roots twice, a little its columns."""
    roots = sum(one.denominator > 1 for _, one in powers)
    return sum(float(abs(one)) for _, one in powers) + 2.0 * roots + 0.25 * len(powers)


def _free_name(number: int, taken: set[str]) -> str:
    name = f"group{number}"
    while name in taken:
        name += "_"
    return name


def _table(dimensions: list[Dimension], target: Dimension) -> tuple[Array, Array]:
    """Return powers of base quantities (quantities, columns) and those of the target."""
    quantities = sorted({name for one in (*dimensions, target) for name, _ in one.powers})
    rows = [[float(dict(one.powers).get(name, 0)) for one in dimensions] for name in quantities]
    wanted = [float(dict(target.powers).get(name, 0)) for name in quantities]
    return np.array(rows).reshape(len(quantities), len(dimensions)), np.array(wanted)


def _values(powers: Powers, sample: Sample) -> Array:
    total = np.ones_like(sample.target)
    for name, one in powers:
        whole = one.denominator == 1
        total = total * sample.columns[name] ** (int(one) if whole else float(one))
    return total


def _tree(powers: Powers) -> Expression:
    above = [_power(name, one) for name, one in powers if one > 0] or [Number(1.0)]
    below = [_power(name, -one) for name, one in powers if one < 0]
    top, bottom = _product(above), _product(below) if below else None
    return top if bottom is None else Binary("/", top, bottom)


def _power(name: str, exponent: Fraction) -> Expression:
    if exponent == 1:
        return Name(name)
    if exponent == Fraction(1, 2):
        return Call("sqrt", Name(name))
    return Binary("**", Name(name), Number(float(exponent)))


def _product(factors: list[Expression]) -> Expression:
    total = factors[0]
    for factor in factors[1:]:
        total = Binary("*", total, factor)
    return total
