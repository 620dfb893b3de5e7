"""Plots of classifications: which class is taken for which, and how true probabilities are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sciharness_reporting.axes import Axis, draw_axes
from sciharness_reporting.document import Figure
from sciharness_reporting.svg import Drawing
from sciharness_reporting.text import label

_LONGEST = 16
_MOST_CLASSES = 12
_LETTER = 8  # how wide a letter is, about


def confusion(
    classes: Sequence[str], rows: Sequence[tuple[str, Sequence[int]]], caption: str
) -> Figure | None:
    """Return predicted against true classes; a cell's shade is its share of the true class."""
    if not rows or not 2 <= len(classes) <= _MOST_CLASSES:
        return None
    longest = max(len(_short(name)) for name in classes)
    side = max(42, min(_LETTER * longest + 12, 480 // len(classes)))
    left, top, high = 150, 64, 52
    width, height = left + side * len(classes) + 18, top + high * len(rows) + 14
    drawing = Drawing(width, height)
    drawing.text(left + side * len(classes) / 2, 20, "predicted class", "ink", "middle")
    for place, name in enumerate(classes):
        x = left + side * (place + 0.5)
        drawing.text(x, top - 10, label(name, max(3, side // _LETTER)), "soft", "middle")
    for line, (name, counts) in enumerate(rows):
        y = top + high * line
        drawing.text(left - 10, y + high / 2 + 4.5, _short(name), "soft", "end")
        for place, many in enumerate(counts):
            share = many / sum(counts) if many else 0.0
            colour = "one" if classes[place] == name else "two"
            _cell(drawing, (left + side * place, y, side, high), many, share, colour)
    drawing.text(16, top + high * len(rows) / 2, "true class", "ink", "middle", turned=True)
    alt = f"Predicted classes of {sum(sum(counts) for _, counts in rows)} sealed rows by true class"
    return Figure("confusion.svg", drawing.render("confusion", "Confusion", alt), alt, caption)


def _cell(
    drawing: Drawing, box: tuple[float, float, float, float], many: int, share: float, colour: str
) -> None:
    x, y, wide, high = box
    right, low = x + wide - 1, y + high - 1
    corners = [(x + 1, y + 1), (right, y + 1), (right, low), (x + 1, low)]
    drawing.area(corners, colour, 0.06 + 0.5 * share if many else 0.03)
    drawing.text(x + wide / 2, y + high / 2 + 4.5, f"{many:,}", "ink" if many else "soft", "middle")


def _short(name: str) -> str:
    return label(name, _LONGEST)


def calibration(bins: Sequence[Mapping[str, float]], positive: str, caption: str) -> Figure | None:
    """Return the share of the second class in bins of like predicted probability."""
    if len(bins) < 2:
        return None
    drawing = Drawing(480, 440)
    across = Axis(f"mean predicted probability of {_short(positive)}", 0, 1).along(76, 462)
    up = Axis(f"share of {_short(positive)}", 0, 1).along(386, 18)
    draw_axes(drawing, across, up)
    ends = [(across.place(0), up.place(0)), (across.place(1), up.place(1))]
    drawing.line(ends, "two", 1.5)
    for one in bins:
        share, many = one["true_mean"], one.get("n", 0)
        spread = (share * (1 - share) / many) ** 0.5 if many and 0 <= share <= 1 else 0.0
        x = across.place(one["predicted_mean"])
        drawing.line([(x, up.place(share - spread)), (x, up.place(share + spread))], "one", 1.5)
    places = [(across.place(one["predicted_mean"]), up.place(one["true_mean"])) for one in bins]
    drawing.dots(places, "one", 4.5)
    alt = f"Share of {_short(positive)} against its predicted probability, {len(bins)} bins"
    return Figure(
        "calibration.svg", drawing.render("calibration", "Calibration", alt), alt, caption
    )
