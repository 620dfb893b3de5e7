"""Tracking the particles of a data set, batch by batch, kept over a kill."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from attrs import define, field, frozen

from sciharness import Context
from sciharness_xsuite.datasets.sampling import batch, sizes
from sciharness_xsuite.datasets.space import Space
from sciharness_xsuite.tracking import Tracker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@frozen(eq=False)
class Plan:
    """What to gather: how many points, which share of them evenly, and points that are given."""

    space: Space
    count: int
    uniform_share: float
    turns: int
    seed: int
    given: Array


@define
class Gathered:
    """Points that were tracked and what became of them, one entry per batch."""

    points: list[Array] = field(factory=list)
    kinds: list[str] = field(factory=list)
    survived: list[NDArray[np.bool_]] = field(factory=list)
    lost_at_turn: list[NDArray[np.int64]] = field(factory=list)
    lost_at_element: list[NDArray[np.int64]] = field(factory=list)
    state: list[NDArray[np.int64]] = field(factory=list)
    criterion: str = ""
    complete: bool = True

    @property
    def count(self) -> int:
        """How many points there are."""
        return sum(map(len, self.points))

    def known(self) -> tuple[Array, NDArray[np.bool_]] | None:
        """Return all points and which survived, ``None`` before the first batch."""
        if not self.points:
            return None
        return np.concatenate(self.points), np.concatenate(self.survived)


def gather(plan: Plan, tracker: Tracker, context: Context) -> Gathered:
    """Return all points of a plan, tracked; if cancelled, those of whole batches."""
    found = Gathered()
    batches = ([("given", len(plan.given))] if len(plan.given) else []) + sizes(
        plan.count - len(plan.given), plan.uniform_share
    )
    for number, (kind, size) in enumerate(batches):
        if size <= 0:
            continue
        if not _restored(found, context.restored, number) and not _tracked(
            found, plan, tracker, context, (number, kind, size)
        ):
            found.complete = False
            return found
        _keep(found, context, number)
    return found


def _tracked(
    found: Gathered,
    plan: Plan,
    tracker: Tracker,
    context: Context,
    piece: tuple[int, str, int],
) -> bool:
    number, kind, size = piece
    random = np.random.default_rng([plan.seed, number])  # a batch does not depend on a restart
    if kind == "given":
        points, drawn = plan.given, kind
    else:
        made = batch(plan.space, kind, size, random, found.known())
        points, drawn = made.points, made.kind
    done, share = found.count / plan.count, len(points) / plan.count
    result = tracker.track(
        plan.space.full(points),
        plan.turns,
        report=lambda part, said: context.progress(
            done + part * share, f"{found.count:,} of {plan.count:,} particles tracked, {said}"
        ),
        cancelled=lambda: context.cancelled,
    )
    if not result.complete:
        return False
    found.points.append(points)
    found.kinds.append(drawn)
    found.survived.append(result.survived)
    found.lost_at_turn.append(result.lost_at_turn)
    found.lost_at_element.append(result.lost_at_element)
    found.state.append(result.state)
    found.criterion = result.criterion
    return True


_ARRAYS = ("points", "survived", "lost_at_turn", "lost_at_element", "state")


def _keep(found: Gathered, context: Context, number: int) -> None:
    arrays = {name: getattr(found, name)[-1] for name in _ARRAYS}
    folder = context.checkpoint()
    part = folder / f"{number}.part.npz"
    np.savez(part, kind=found.kinds[-1], criterion=found.criterion, **arrays)
    part.replace(folder / f"{number}.npz")


def _restored(found: Gathered, folder: Path | None, number: int) -> bool:
    path = None if folder is None else folder / f"{number}.npz"
    if path is None or not path.is_file():
        return False
    with np.load(path, allow_pickle=False) as kept:
        for name in _ARRAYS:
            getattr(found, name).append(kept[name])
        found.kinds.append(str(kept["kind"]))
        found.criterion = str(kept["criterion"])
    return True
