"""Pictures of a survival data set: the survival map, and loss turn against amplitude."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciharness import Context
from sciharness_xsuite.datasets.gathering import Gathered
from sciharness_xsuite.datasets.request import StabilityRequest
from sciharness_xsuite.datasets.space import UNITS, Space
from sciharness_xsuite.plots.boundary import sentence
from sciharness_xsuite.plots.part import ALIVE, LOST, Part, Table, axis_label, pairs, picture

MOST_DRAWN = 6_000
SURVIVAL_MAP, LOSS_TURNS = "survival_map.png", "loss_turns.png"


def write_survival_part(
    request: StabilityRequest,
    context: Context,
    space: Space,
    found: Gathered,
    notes: Sequence[str],
) -> None:
    """Write the part of the report that shows a data set."""
    part = Part("Particles that were tracked")
    _draw_map(context, part, space, found)
    _draw_losses(context, part, space, found, request.num_turns)
    part.text += [sentence(note) for note in (found.criterion, *notes)]
    part.tables.append(_domain(space))
    part.tables.append(_drawn(found))
    part.write(context)


def _drawn_places(found: Gathered) -> np.ndarray:
    count = found.count
    return np.unique(np.linspace(0, count - 1, min(count, MOST_DRAWN)).astype(np.int64))


def _draw_map(context: Context, part: Part, space: Space, found: Gathered) -> None:
    points, survived = np.concatenate(found.points), np.concatenate(found.survived)
    shown = _drawn_places(found)
    if len(space.names) == 1:
        return
    planes = pairs(space.names)
    columns = min(2, len(planes))
    rows = -(-len(planes) // columns)
    size = (5.6, 4.4) if len(planes) == 1 else (9.0, 3.8 * rows)
    caption = (
        "Start values that survived and that were lost"
        + (", projected: other coordinates vary too." if len(space.names) > 2 else ".")
        + (f" {len(shown):,} of {found.count:,} drawn." if len(shown) < found.count else "")
    )
    with picture(
        context, part, SURVIVAL_MAP, caption, size=size, grid=(rows, columns),
        options={"squeeze": False},
    ) as axes:  # fmt: skip
        for panel, (across, up) in zip(axes.ravel(), planes, strict=False):
            for fate, colour, name in ((False, LOST, "lost"), (True, ALIVE, "survived")):
                chosen = shown[survived[shown] == fate]
                label_x, scale_x = axis_label(across)
                label_y, scale_y = axis_label(up)
                panel.plot(
                    points[chosen, space.names.index(across)] * scale_x,
                    points[chosen, space.names.index(up)] * scale_y,
                    ".", markersize=3, color=colour, label=name, alpha=0.7,
                )  # fmt: skip
                panel.set(xlabel=label_x, ylabel=label_y)
        for panel in axes.ravel()[len(planes) :]:
            panel.set_visible(False)
        axes.ravel()[0].figure.legend(
            *axes.ravel()[0].get_legend_handles_labels(),
            loc="outside upper center", ncols=2, markerscale=3,
        )  # fmt: skip


def _draw_losses(context: Context, part: Part, space: Space, found: Gathered, turns: int) -> None:
    shown = _drawn_places(found)
    amplitude = np.sqrt((_spread(space, np.concatenate(found.points)) ** 2).sum(axis=1))
    turn = np.concatenate(found.lost_at_turn)
    lost = shown[turn[shown] >= 0]
    alive = shown[turn[shown] < 0]
    caption = (
        "Turn of loss (counted from 1) against amplitude; the amplitude is the distance from "
        "zero over the largest absolute value of each coordinate's range, added in quadrature."
    )
    with picture(context, part, LOSS_TURNS, caption) as axes:
        axes.plot(amplitude[lost], turn[lost] + 1, ".", markersize=4, color=LOST, label="lost")
        axes.plot(
            amplitude[alive], np.full(len(alive), turns), "|", markersize=9, color=ALIVE,
            alpha=0.35, label=f"survived {turns:,} turns",
        )  # fmt: skip
        axes.set(xlabel="relative amplitude", ylabel="turn of loss", yscale="log")
        axes.set_ylim(0.8, turns * 1.6)
        axes.figure.legend(loc="outside upper center", ncols=2)


def _spread(space: Space, points: np.ndarray) -> np.ndarray:
    size = np.maximum(np.abs(space.lows), np.abs(space.highs))
    return np.asarray(points / size)


def _domain(space: Space) -> Table:
    varied = [
        (name, UNITS[name], low, high)
        for name, low, high in zip(space.names, space.lows, space.highs, strict=True)
    ]
    held = [(name, UNITS[name], value, value) for name, value in space.fixed.items()]
    return Table("Domain of start values", ("coordinate", "unit", "from", "to"), (*varied, *held))


def _drawn(found: Gathered) -> Table:
    kinds = dict.fromkeys(found.kinds)
    rows = []
    for kind in kinds:
        some = [one for one, this in zip(found.survived, found.kinds, strict=True) if this == kind]
        fates = np.concatenate(some)
        rows.append((kind, len(fates), int(fates.sum()), float(fates.mean())))
    return Table(
        "How start values were chosen", ("drawn", "particles", "survived", "share"), tuple(rows)
    )
