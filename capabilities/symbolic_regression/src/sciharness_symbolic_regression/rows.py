"""Visible rows as samples: weights joined, symbols given, a share kept back to choose by."""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness.errors import DataError
from sciharness_symbolic_regression.candidates import Rows
from sciharness_symbolic_regression.sample import Sample, derived_seed

if TYPE_CHECKING:
    from sciharness.tables import TableArrays

Index = NDArray[np.intp]

LEAST_ROWS = 10
LEAST_KEPT = 3
LEAST_GROUPS = 4
SUBSAMPLE = 0.8


@frozen(eq=False)
class Visible:
    """All visible rows of one search.

    ``names`` maps symbols to column names in order; ``group`` (rows,) holds
    group numbers or is None; ``sigma`` says that measurement errors were given.
    """

    sample: Sample
    names: dict[str, str]
    group: NDArray[np.int64] | None
    weighted: bool
    sigma: NDArray[np.float64] | None


def visible(table: TableArrays, noise: float = 0.0) -> Visible:
    """Return the rows of a table ready for a search; rows of weight 0 are left out.

    Raises:
        DataError: fewer than ten rows, no feature, a target that is constant
            or not finite, or weights and errors that are not positive.
    """
    counts = slice(None) if table.weights is None else np.flatnonzero(table.weights != 0)
    target = np.asarray(table.y, dtype=np.float64)[counts]
    features = np.asarray(table.X, dtype=np.float64)[counts]
    given = {"weights": table.weights, "sigma": table.sigma}
    used = {name: column[counts] for name, column in given.items() if column is not None}
    _check(features, target, used)
    weights = used.get("weights", np.ones_like(target))
    if "sigma" in used:
        weights = weights * np.square(used["sigma"].min() / used["sigma"])
    symbols = symbols_of(table.features)
    return Visible(
        Sample(
            {symbol: np.ascontiguousarray(features[:, i]) for i, symbol in enumerate(symbols)},
            target,
            weights / weights.mean(),
            noise,
        ),
        dict(zip(symbols, table.features, strict=True)),
        None if table.group is None else table.group[counts],
        bool(used),
        used.get("sigma"),
    )


def symbols_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return the name of each column in formulas.

    A name that Python reads as itself stays; any other is ``X`` and its
    position from 1, with underscores added should a column be called so.

    >>> symbols_of(["length", "v [m/s]", "X2", "lambda"])
    ('length', 'X2_', 'X2', 'X4')
    """
    kept = {name for name in names if _is_plain(name)}
    symbols = []
    for position, name in enumerate(names, start=1):
        symbol = name if name in kept else f"X{position}"
        while name not in kept and symbol in kept:
            symbol += "_"
        symbols.append(symbol)
    return tuple(symbols)


def split(all_rows: Visible, share: float, seed: int, loss: str) -> tuple[Rows, str]:
    """Return training and validation rows, and how they were split.

    Whole groups are kept back when there are at least four of them.
    """
    count = all_rows.sample.rows
    random = np.random.default_rng(derived_seed(seed, 1))
    group = all_rows.group
    if group is not None and len(np.unique(group)) >= LEAST_GROUPS:
        kept = _by_group(group, share, random)
        how = f"{len(np.unique(group[kept]))} of {len(np.unique(group))} groups kept back"
    else:
        size = min(max(round(share * count), LEAST_KEPT), count // 2)
        kept = np.zeros(count, dtype=bool)
        kept[random.permutation(count)[:size]] = True
        how = f"{size} of {count} rows kept back at random"
    sample = all_rows.sample
    train, validation = sample.take(np.flatnonzero(~kept)), sample.take(np.flatnonzero(kept))
    return Rows(train, validation, loss), how


def subsample(all_rows: Visible, seed: int) -> Visible:
    """Return a random 80 % of the rows."""
    count = all_rows.sample.rows
    random = np.random.default_rng(derived_seed(seed, 2))
    chosen = np.sort(random.permutation(count)[: max(round(SUBSAMPLE * count), LEAST_ROWS - 2)])
    return Visible(
        all_rows.sample.take(chosen),
        all_rows.names,
        None if all_rows.group is None else all_rows.group[chosen],
        all_rows.weighted,
        None if all_rows.sigma is None else all_rows.sigma[chosen],
    )


def _by_group(
    group: NDArray[np.int64], share: float, random: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which rows are kept back: groups in random order until the share is reached."""
    names, counts = np.unique(group, return_counts=True)
    kept: list[int] = []
    rows = 0
    for place in random.permutation(len(names))[: len(names) - 2]:
        if kept and rows >= share * len(group):
            break
        kept.append(int(names[place]))
        rows += int(counts[place])
    return np.isin(group, kept)


def _is_plain(name: str) -> bool:
    same = unicodedata.normalize("NFKC", name) == name  # Python reads names in this form
    return name.isidentifier() and not keyword.iskeyword(name) and same


def _check(
    features: NDArray[np.float64],
    target: NDArray[np.float64],
    used: Mapping[str, NDArray[np.float64]],
) -> None:
    found = _fault(features, target, used)
    if found:
        raise DataError(found, where="data")


def _fault(
    features: NDArray[np.float64],
    target: NDArray[np.float64],
    used: Mapping[str, NDArray[np.float64]],
) -> str:
    if len(target) < LEAST_ROWS:
        return f"expected at least {LEAST_ROWS} visible rows, found {len(target)}"
    if features.shape[1] == 0:
        return "expected at least one feature column, found none"
    if not (np.isfinite(features).all() and np.isfinite(target).all()):
        return "expected finite numbers in features and target, found others"
    if target.min() == target.max():
        return f"expected a target that varies, found {float(target[0])!r} in every row"
    for name, column in used.items():
        if not (np.isfinite(column).all() and (column > 0).all()):
            return f"expected positive finite {name}, found others"
    return ""
