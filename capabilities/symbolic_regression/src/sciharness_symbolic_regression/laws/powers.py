"""Columns as terms: themselves, and products of their powers, plain ones first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sciharness_publisher.expression import Name
from sciharness_symbolic_regression.laws.terms import Terms, exponent_rows, listed, monomials

Columns = Mapping[str, NDArray[np.float64]]

SIGNS = (0.0, 1.0, -1.0)
MANY = 8  # from this many columns on only pairs are looked at


def named(columns: Columns) -> Terms:
    """Return the columns themselves."""
    rows = len(next(iter(columns.values())))
    return listed([(column, Name(name)) for name, column in columns.items()], rows)


def first(terms: Terms, most: int) -> Terms:
    """Return the first terms of a table."""
    return terms if terms.count <= most else terms.take(np.arange(most))


def power_terms(columns: Columns, most: int, signed: bool = True) -> Terms:
    """Return products of powers of the columns, plain ones first, at most ``most``.

    Without ``signed`` the second half holds one over each of the first.
    """
    count = len(columns)
    whole = [0.0, 1.0, -1.0, 2.0, -2.0]
    if count <= 4:
        whole += [3.0, -3.0, 4.0, -4.0]
    if count <= 2:
        whole += [5.0, 6.0, 7.0, 8.0]
    halves = [0.5, -0.5, 1.5, -1.5] if count <= 6 else [0.5, -0.5]
    choices = [whole if column.min() < 0 else whole + halves for column in columns.values()]
    rows = exponent_rows(choices, most if signed else 2 * most)
    if signed and 3**count <= most // 4:  # a product of all columns is plain, too
        rows = np.unique(np.concatenate([exponent_rows([SIGNS] * count, most), rows]), axis=0)
        rows = rows[np.argsort(np.abs(rows).sum(axis=1), kind="stable")]
    if not signed:  # 1 + D and 1 + 1/D differ by a factor that is a power product
        lead = np.array([row[np.flatnonzero(row)[0]] for row in rows])
        rows = rows[lead > 0][:most]
        rows = np.concatenate([rows, -rows])
    return monomials(list(columns), list(columns.values()), rows)
