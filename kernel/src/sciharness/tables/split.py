"""Which rows are final, which are shown to verification steps, which are visible.

Rules, for n kept rows and a share written as the decimal s:

* ``fraction``: floor(s n + 1/2) rows, drawn by ``seed``. For classification
  the draw is made per class: each class gives floor(s n_c) rows, and those
  with the largest remainders one more until the sum is reached; each class
  keeps at least one visible row.
* ``group``: whole groups, floor(s g + 1/2) of g groups but at least one.
* ``order``: the last floor(s n + 1/2) rows of the file.

Rows that are the cells of a variable along several axes come in blocks, one
for each entry of its first axis. There ``fraction`` and ``order`` both mean
the last floor(s b + 1/2) of b blocks, but at least one.

Rows that are equal in features and target stay on one side. So equal rows are
drawn together, and a set that is larger than what is still wanted is passed
over; groups that share equal rows are drawn together likewise; and of the last
rows those stay visible that an earlier visible row equals. Verification rows
are a share of all kept rows (or groups), taken by the same rule from what is
left.

The draw depends on nothing but seed, number of rows and which rows are equal:
draws are ranked by the SplitMix64 finaliser of seed and first row, which is
the same on every machine.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import TYPE_CHECKING

from sciharness.contract.records import Holdout
from sciharness.tables.identity import scramble
from sciharness.tables.scan import Scan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VISIBLE, VERIFICATION, FINAL = 0, 1, 2


def split_rows(
    scan: Scan, equal: NDArray[np.int64] | None, holdout: Holdout, block: int = 0
) -> NDArray[np.uint8]:
    """Return for each kept row VISIBLE, VERIFICATION or FINAL.

    ``equal`` numbers the sets of equal rows by their first rows; ``None`` when
    all rows differ. ``block`` is the number of rows in a block, 0 where there
    are no blocks.
    """
    import numpy as np

    sides = np.zeros(scan.rows, np.uint8)
    final = None if holdout.mode in ("none", "generated") else holdout.fraction
    shares = ((FINAL, final), (VERIFICATION, holdout.verification))
    if not scan.rows or scan.target is None:
        return sides
    if block and holdout.mode in ("fraction", "order"):
        blocks = np.flatnonzero(scan.kept) // block
        _split_by_block(sides, shares, equal, blocks, len(scan.kept) // block)
    elif holdout.mode == "order":
        _split_by_order(sides, shares, equal)
    elif holdout.mode == "group":
        assert scan.group is not None
        _split_by_group(sides, shares, equal, scan.group, holdout.seed)
    else:
        classes = scan.target if scan.classes else None
        _split_by_draw(sides, shares, equal, classes, holdout.seed)
    return sides


def share_of(share: float, count: int) -> int:
    """Return floor(share * count + 1/2), with the share as the decimal it is written as.

    >>> share_of(0.15, 10), share_of(0.2, 12), share_of(0.2, 13)
    (2, 2, 3)
    """
    exact = Fraction(repr(float(share))) * count + Fraction(1, 2)
    return exact.numerator // exact.denominator


def _split_by_order(
    sides: NDArray[np.uint8],
    shares: tuple[tuple[int, float | None], ...],
    equal: NDArray[np.int64] | None,
) -> None:
    stop = len(sides)
    for side, share in shares:
        if share is not None:
            start = max(stop - share_of(share, len(sides)), 0)
            sides[start:stop] = side
            stop = start
    _keep_together(sides, equal)


def _split_by_block(
    sides: NDArray[np.uint8],
    shares: tuple[tuple[int, float | None], ...],
    equal: NDArray[np.int64] | None,
    blocks: NDArray[np.int64],
    count: int,
) -> None:
    stop = count
    for side, share in shares:
        if share is not None:
            start = max(stop - max(share_of(share, count), 1), 0)
            sides[(blocks >= start) & (blocks < stop)] = side
            stop = start
    _keep_together(sides, equal)


def _keep_together(sides: NDArray[np.uint8], equal: NDArray[np.int64] | None) -> None:
    """Put equal rows where the first of them is: that one is visible earliest."""
    import numpy as np

    if equal is not None:
        first = np.unique(equal, return_index=True)[1]
        sides[:] = sides[first][equal]


def _split_by_draw(
    sides: NDArray[np.uint8],
    shares: tuple[tuple[int, float | None], ...],
    equal: NDArray[np.int64] | None,
    classes: NDArray[np.generic] | None,
    seed: int,
) -> None:
    import numpy as np

    rows = len(sides)
    units = np.arange(rows) if equal is None else equal
    first = units if equal is None else np.unique(equal, return_index=True)[1]
    sizes = None if equal is None else np.bincount(equal)
    chosen = np.zeros(len(first), np.uint8)
    ranks = _ranks(first, seed)
    strata, counts = [np.arange(len(first))], [rows]
    if classes is not None:
        present = np.unique(classes)
        strata = [np.flatnonzero(classes[first] == number) for number in present]
        counts = [int((classes == number).sum()) for number in present]
    for side, share in shares:
        if share is None:
            continue
        free = [stratum[chosen[stratum] == VISIBLE] for stratum in strata]
        rooms = [_size(stratum, sizes) - 1 for stratum in free]
        for stratum, wanted in zip(free, _quotas(share, counts, rooms), strict=True):
            chosen[_take(stratum, ranks, sizes, wanted)] = side
    sides[:] = chosen[units]


def _split_by_group(
    sides: NDArray[np.uint8],
    shares: tuple[tuple[int, float | None], ...],
    equal: NDArray[np.int64] | None,
    group: NDArray[np.int64],
    seed: int,
) -> None:
    import numpy as np

    groups, group = np.unique(group, return_inverse=True)
    tied = _tied_groups(group, equal, len(groups))
    units, first_group, unit_of_group = np.unique(tied, return_index=True, return_inverse=True)
    first_row = np.unique(group, return_index=True)[1][first_group]
    sizes = np.bincount(unit_of_group, minlength=len(units))
    chosen = np.zeros(len(units), np.uint8)
    ranks = _ranks(first_row, seed)
    for side, share in shares:
        if share is not None:
            wanted = max(share_of(share, len(groups)), 1)
            chosen[_take(np.flatnonzero(chosen == VISIBLE), ranks, sizes, wanted)] = side
    sides[:] = chosen[unit_of_group[group]]


def _tied_groups(
    group: NDArray[np.int64], equal: NDArray[np.int64] | None, count: int
) -> NDArray[np.int64]:
    """Return for each group the smallest group it is tied to by equal rows."""
    import numpy as np

    label = np.arange(count)
    if equal is None:
        return label
    pairs = np.unique(np.column_stack([equal, group]), axis=0)
    same = pairs[1:, 0] == pairs[:-1, 0]
    left, right = pairs[:-1, 1][same], pairs[1:, 1][same]
    while True:
        before = label.copy()
        low = np.minimum(before[left], before[right])
        for place in (before[left], before[right]):  # hang whole trees, not single groups
            np.minimum.at(label, place, low)
        label = label[label]
        if (label == before).all():
            return label


def _ranks(first_rows: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """Return for each unit its rank in the draw, all different; the lowest come first."""
    import numpy as np

    digest = hashlib.sha256(f"sciharness-split-v1\n{seed}".encode()).digest()
    salt = np.uint64(int.from_bytes(digest[:8], "big"))
    return scramble(first_rows.astype(np.uint64) ^ salt)


def _size(units: NDArray[np.int64], sizes: NDArray[np.int64] | None) -> int:
    return len(units) if sizes is None else int(sizes[units].sum())


def _quotas(share: float, counts: list[int], rooms: list[int]) -> list[int]:
    """Return how many rows each stratum gives: largest remainders, at most its room."""
    shares = [Fraction(repr(float(share))) * count for count in counts]
    quotas = [int(part) for part in shares]
    missing = share_of(share, sum(counts)) - sum(quotas)
    for place in sorted(range(len(counts)), key=lambda place: quotas[place] - shares[place]):
        if missing > 0 and quotas[place] < rooms[place]:
            quotas[place] += 1
            missing -= 1
    return [min(quota, max(room, 0)) for quota, room in zip(quotas, rooms, strict=True)]


def _take(
    units: NDArray[np.int64],
    ranks: NDArray[np.uint64],
    sizes: NDArray[np.int64] | None,
    wanted: int,
) -> NDArray[np.int64]:
    """Return the units that fit, one after another by rank, into ``wanted`` rows.

    Without ``sizes`` each unit is one row.
    """
    import numpy as np

    if sizes is None:
        if wanted >= len(units):
            return units
        return units[np.argpartition(ranks[units], wanted)[:wanted]]
    order = units[np.argsort(ranks[units])]
    taken = [np.empty(0, np.int64)]
    while wanted > 0:
        order = order[sizes[order] <= wanted]
        if not order.size:
            break
        total = np.cumsum(sizes[order])
        count = int(np.searchsorted(total, wanted, side="right"))
        taken.append(order[:count])
        wanted -= int(total[count - 1])
        order = order[count:]
    return np.concatenate(taken)
