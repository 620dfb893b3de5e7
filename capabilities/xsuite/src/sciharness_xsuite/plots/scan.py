"""Pictures of a scan: a line over one parameter, heat maps over two, a row of them over three."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sciharness import Context
from sciharness_xsuite.plots.boundary import sentence
from sciharness_xsuite.plots.part import ALIVE, LINE, MAP, QUIET, Part, Table, picture
from sciharness_xsuite.scans.request import ScanRequest

SCAN = "scan.png"
MOST_PANELS = 9
MOST_ROWS = 400
LEAST_FOR_CONTOURS = 4

Cells = Mapping[tuple[float, ...], Mapping[str, Any]]  # Any: JSON values
Frame = tuple[list[str], list[list[float]], str]


def write_scan_part(
    request: ScanRequest, context: Context, frame: Frame, done: Cells, notes: Sequence[str]
) -> None:
    """Write the part of the report that shows a scan."""
    names, _, shown = frame
    part = Part(f"Scan of {request.measure.replace('_', ' ')} over {' and '.join(names)}")
    part.text += [sentence(note) for note in notes]
    if len(names) == 1 or request.linked:
        _draw_line(context, part, frame, done)
    else:
        _draw_maps(context, part, frame, done)
    rows = tuple(
        (*cell, found["metrics"].get(shown), found["status"]) for cell, found in done.items()
    )
    told = f"Cells: {shown}" + (f", {MOST_ROWS} of {len(rows):,}" if len(rows) > MOST_ROWS else "")
    part.tables.append(Table(told, (*names, shown, "status"), rows[:MOST_ROWS]))
    part.write(context)


def _value(done: Cells, cell: tuple[float, ...], shown: str) -> float:
    found = done.get(cell)
    return float("nan") if found is None else float(found["metrics"].get(shown, float("nan")))


def _draw_line(context: Context, part: Part, frame: Frame, done: Cells) -> None:
    names, _, shown = frame
    caption = f"{shown} over {names[0]}. Crosses: cells without a result."
    cells = sorted(done)
    across = np.array([cell[0] for cell in cells])
    up = np.array([_value(done, cell, shown) for cell in cells])
    with picture(context, part, SCAN, caption, size=(6.2, 3.8)) as axes:
        axes.plot(across, up, "o-", color=ALIVE, markersize=4)
        missing = np.isnan(up)
        if missing.any():
            floor = np.nanmin(up)
            axes.plot(across[missing], np.full(missing.sum(), floor), "x", color=LINE)
        axes.set(xlabel=names[0], ylabel=shown)


def _draw_maps(context: Context, part: Part, frame: Frame, done: Cells) -> None:
    names, values, shown = frame
    thirds = _thirds(names, values)
    columns = min(3, len(thirds))
    rows = -(-len(thirds) // columns)
    x, y = (np.sort(one) for one in values[:2])
    sheets = [_sheet(done, x, y, third, shown) for third in thirds]
    known = np.concatenate([sheet[~np.isnan(sheet)] for sheet in sheets])
    low, high = float(known.min()), float(known.max())
    caption = f"{shown} over {names[0]} and {names[1]}" + (
        f", for {len(thirds)} values of {names[2]}" if len(names) == 3 else ""
    )
    caption += ". Grey: cells without a result or outside the conditions; lines of equal value."
    size = (6.2, 4.6) if len(thirds) == 1 else (4.0 * columns + 0.8, 3.4 * rows)
    with picture(
        context, part, SCAN, caption, size=size, grid=(rows, columns), options={"squeeze": False}
    ) as axes:
        for panel in axes.ravel()[len(thirds) :]:
            panel.set_visible(False)
        for panel, third, sheet in zip(axes.ravel(), thirds, sheets, strict=False):
            shades = _draw_sheet(panel, x, y, sheet, (low, high))
            panel.set(xlabel=names[0], ylabel=names[1])
            if third is not None:
                panel.set_title(f"{names[2]} = {third:g}")
        axes.ravel()[0].figure.colorbar(shades, ax=axes, label=shown)


def _thirds(names: list[str], values: list[list[float]]) -> list[float | None]:
    """Return the values of a third parameter, each of which has a panel of its own."""
    return [*values[2][:MOST_PANELS]] if len(names) == 3 else [None]


def _sheet(done: Cells, x: Any, y: Any, third: float | None, shown: str) -> Any:
    # Any: arrays of float64
    rest = () if third is None else (third,)
    return np.array(
        [[_value(done, (float(a), float(b), *rest), shown) for a in x] for b in y], dtype=np.float64
    )


def _draw_sheet(panel: Any, x: Any, y: Any, sheet: Any, limits: tuple[float, float]) -> Any:
    # Any: axes of matplotlib and arrays
    panel.set_facecolor("#D9D9D9")
    masked = np.ma.masked_invalid(sheet)
    low, high = limits
    shades = panel.pcolormesh(x, y, masked, cmap=MAP, vmin=low, vmax=high, shading="nearest")
    enough = min(sheet.shape) >= LEAST_FOR_CONTOURS and high > low
    if enough and not np.isnan(sheet).all():
        panel.contour(x, y, masked, colors="white", linewidths=0.7, alpha=0.8)
    panel.tick_params(color=QUIET)
    return shades
