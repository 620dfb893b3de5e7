"""Pictures of a survival model: what it says over the domain, and how true its chances are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sciharness import Context
from sciharness_publisher.inference.derived import build
from sciharness_xsuite.model.judging import Judged, logistic, reliability
from sciharness_xsuite.model.rows import Rows
from sciharness_xsuite.plots.part import (
    ALIVE,
    LINE,
    LOST,
    QUIET,
    Part,
    Table,
    axis_label,
    pairs,
    picture,
)

GRID = 160
MODEL_MAP, RELIABILITY = "model_map.png", "reliability.png"
MOST_SHOWN = 12


def write_model_part(
    context: Context,
    rows: Rows,
    best: Judged,
    chosen: Any,  # Any: places of rows
    document: Any,  # Any: JSON values
    judged: Sequence[Judged],
) -> None:
    """Write the part of the report that shows a model."""
    part = Part("The survival model")
    if len(rows.columns) > 1:
        _draw_map(context, part, rows, document)
    _draw_reliability(context, part, best, rows.survived[chosen])
    part.tables.append(
        Table(
            "Candidates by cross-validated log loss, the best first",
            ("family", "setting", "features", "log loss"),
            tuple(_row(one) for one in judged[:MOST_SHOWN]),
        )
    )
    part.write(context)


def _row(one: Judged) -> tuple[Any, ...]:  # Any: JSON scalars
    setting = ", ".join(f"{name} {value:g}" for name, value in one.candidate.setting.items())
    return (one.candidate.family, setting, len(one.candidate.features), one.loss)


def _draw_map(context: Context, part: Part, rows: Rows, document: Any) -> None:
    across, up = pairs(rows.columns)[0]
    first, second = rows.columns.index(across), rows.columns.index(up)
    held = np.where(
        (rows.features.min(axis=0) <= 0) & (rows.features.max(axis=0) >= 0), 0.0, rows.centre
    )
    lows, highs = rows.features.min(axis=0), rows.features.max(axis=0)
    x, y = (np.linspace(lows[one], highs[one], GRID) for one in (first, second))
    mesh = np.meshgrid(x, y)
    columns = {name: np.full(GRID * GRID, held[k]) for k, name in enumerate(rows.columns)}
    columns[across], columns[up] = mesh[0].ravel(), mesh[1].ravel()
    chances = logistic(build(document)(columns)[:, 0]).reshape(GRID, GRID)
    flat = len(rows.columns) == 2
    cut = ", ".join(
        f"{name} = {value:g}"
        for name, value in zip(rows.columns, held, strict=True)
        if name not in (across, up)
    )
    caption = "What the model says over the domain; the line is probability one half." + (
        " Dots: training particles." if flat else f" A cut through the domain at {cut}."
    )
    (label_x, scale_x), (label_y, scale_y) = axis_label(across), axis_label(up)
    with picture(context, part, MODEL_MAP, caption, size=(6.2, 4.6)) as axes:
        shades = axes.pcolormesh(
            x * scale_x, y * scale_y, chances, cmap="cividis", vmin=0.0, vmax=1.0, rasterized=True
        )
        axes.contour(x * scale_x, y * scale_y, chances, levels=[0.5], colors="white")
        if flat:
            for fate, colour in ((False, LOST), (True, ALIVE)):
                some = rows.features[rows.survived == fate][:3_000]
                axes.plot(
                    some[:, first] * scale_x, some[:, second] * scale_y, ".", markersize=1.5,
                    color=colour,
                )  # fmt: skip
        axes.figure.colorbar(shades, label=f"probability of {rows.classes[1]!r}")
        axes.set(xlabel=label_x, ylabel=label_y)


def _draw_reliability(context: Context, part: Part, best: Judged, survived: Any) -> None:
    found = reliability(best.chances, survived)
    caption = (
        "How often particles survived for which the model gave a probability (bins of held-out "
        "rows, bars: one standard error). On the line the probabilities are true."
    )
    said, share, rows = (np.array(column) for column in zip(*found, strict=True))
    error = np.sqrt(np.clip(share * (1.0 - share), 1.0 / (rows + 2.0), None) / rows)
    with picture(context, part, RELIABILITY, caption, size=(4.8, 4.2)) as axes:
        axes.plot([0, 1], [0, 1], "--", color=QUIET, linewidth=1)
        axes.errorbar(said, share, yerr=error, fmt="o-", color=ALIVE, ecolor=LINE, capsize=2)
        axes.set(
            xlabel="probability by the model", ylabel="share that survived",
            xlim=(-0.02, 1.02), ylim=(-0.05, 1.05),
        )  # fmt: skip
