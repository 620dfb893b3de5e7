"""Features of start values: products, radii and angles in the planes of motion."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

from sciharness_publisher.derived import Feature

MOST_TERMS = 250
PLANES = (("x", "px"), ("y", "py"), ("zeta", "delta"), ("x", "y"), ("px", "py"))


def plain(columns: Sequence[str]) -> tuple[Feature, ...]:
    """Return the columns themselves."""
    return tuple(("product", place) for place in range(len(columns)))


def products(columns: Sequence[str], degree: int) -> tuple[Feature, ...]:
    """Return all products of up to ``degree`` columns, the shortest first, boundedly many."""
    found: list[Feature] = []
    for factors in range(1, degree + 1):
        chosen = combinations_with_replacement(range(len(columns)), factors)
        more: list[Feature] = [("product", *one) for one in chosen]
        if len(found) + len(more) > MOST_TERMS:
            break
        found += more
    return tuple(found)


def shapes(columns: Sequence[str]) -> tuple[Feature, ...]:
    """Return columns, squares and mixed products, and radius and angle of every plane."""
    found = list(products(columns, 2))
    places = {name: place for place, name in enumerate(columns)}
    for first, second in PLANES:
        if first in places and second in places:
            pair = (places[first], places[second])
            found += [("radius", *pair), ("sine", *pair), ("cosine", *pair)]
    if len(columns) > 1:
        found.append(("radius", *range(len(columns))))
    return tuple(found)
