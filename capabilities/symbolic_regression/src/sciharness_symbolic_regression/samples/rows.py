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
from sciharness_symbolic_regression.samples.sample import Rows, Sample, derived_seed, thinned_places

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

    def rearrange(self, order: Index) -> None:
        """Put the rows in another order, in place."""
        self.sample.rearrange(order)
        for column in (self.group, self.sigma):
            if column is not None:
                column[:] = column[order]


def visible(table: TableArrays, noise: float = 0.0) -> Visible:
    """Return the rows of a table ready for a search; rows of weight 0 are left out.

    Columns are copies, each in one piece of memory, so that the table can go.

    Raises:
        DataError: fewer than ten rows, no feature, a target that is constant
            or not finite, or weights and errors that are not positive.
    """
    counts = slice(None) if table.weights is None else np.flatnonzero(table.weights != 0)
    target = np.array(table.y, dtype=np.float64)[counts]
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
            {symbol: features[:, i].copy() for i, symbol in enumerate(symbols)},
            target,
            weights / weights.mean(),
            noise,
        ),
        dict(zip(symbols, table.features, strict=True)),
        None if table.group is None else table.group[counts].copy(),
        bool(used),
        None if "sigma" not in used else used["sigma"].copy(),
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

    Whole groups are kept back when there are at least four of them. All rows
    are put in another order, in place: those to train on come first, so that
    both parts are stretches of the same memory.
    """
    kept, how = _kept_back(all_rows.sample.rows, all_rows.group, share, seed)
    all_rows.rearrange(np.concatenate([np.flatnonzero(~kept), np.flatnonzero(kept)]))
    sample, count = all_rows.sample, int((~kept).sum())
    train, validation = sample.part(slice(None, count)), sample.part(slice(count, None))
    return Rows(train, validation, loss), how


def resampled(all_rows: Visible, share: float, seed: int, loss: str, most: int) -> Rows:
    """Return at most ``most`` rows to train on and as many to choose by, of a random 80 %."""
    chosen = _chosen(all_rows.sample.rows, seed)
    group = None if all_rows.group is None else all_rows.group[chosen]
    kept, _ = _kept_back(len(chosen), group, share, seed)
    sample = all_rows.sample
    parts = [thinned_places(chosen[part], most, seed) for part in (~kept, kept)]
    return Rows(sample.take(parts[0]), sample.take(parts[1]), loss)


def _kept_back(
    count: int, group: NDArray[np.int64] | None, share: float, seed: int
) -> tuple[NDArray[np.bool_], str]:
    """Return which rows are kept back (rows,), and how they were picked."""
    random = np.random.default_rng(derived_seed(seed, 1))
    if group is not None and len(np.unique(group)) >= LEAST_GROUPS:
        kept = _by_group(group, share, random)
        how = f"{len(np.unique(group[kept]))} of {len(np.unique(group))} groups kept back"
    else:
        size = min(max(round(share * count), LEAST_KEPT), count // 2)
        kept = np.zeros(count, dtype=bool)
        kept[random.permutation(count)[:size]] = True
        how = f"{size} of {count} rows kept back at random"
    return kept, how


def _chosen(count: int, seed: int) -> Index:
    """Return which rows are the random 80 %, in order."""
    random = np.random.default_rng(derived_seed(seed, 2))
    size = max(round(SUBSAMPLE * count), LEAST_ROWS - 2)
    return np.asarray(np.sort(random.permutation(count)[:size]))


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
