"""The plots of a report, each as SVG text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve

from sciharness_reporting.axes import Axis, draw_axes, fitting
from sciharness_reporting.document import Figure
from sciharness_reporting.svg import Drawing

Points = Sequence[tuple[float, float]]

_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 18, 18, 54


def _panel(across: Axis, up: Axis, width: int, height: int) -> tuple[Drawing, Axis, Axis]:
    drawing = Drawing(width, height)
    across = across.along(_LEFT, width - _RIGHT)
    up = up.along(height - _BOTTOM, _TOP)
    draw_axes(drawing, across, up)
    return drawing, across, up


def _placed(points: Points, across: Axis, up: Axis) -> list[tuple[float, float]]:
    return [(across.place(x), up.place(y)) for x, y in points]


def pareto(
    candidates: Points, chosen: int | None, baselines: Mapping[str, float], measure: str
) -> Figure | None:
    """Return error against complexity of all candidates, the chosen one ringed."""
    errors = [y for _, y in candidates] + list(baselines.values())
    across = fitting("complexity (parts of the formula)", [x for x, _ in candidates])
    up = fitting(measure, errors, log=True)
    if across is None or up is None:
        return None
    drawing, across, up = _panel(across, up, 640, 380)
    for name, level in baselines.items():
        y = up.place(level)
        drawing.line([(across.start, y), (across.stop, y)], "two", 1.5, "5 4")
        drawing.text(across.stop - 4, y - 6, name, "two", "end")
    drawing.line(_placed(_front(candidates), across, up), "one", 1)
    drawing.dots(_placed(candidates, across, up), "one", 4)
    if chosen is not None and 0 <= chosen < len(candidates):
        x, y = _placed([candidates[chosen]], across, up)[0]
        drawing.ring(x, y, "ink", 8)
        side = ("start", 13) if x < (across.start + across.stop) / 2 else ("end", -13)
        drawing.text(x + side[1], y - 8, "chosen", "ink", side[0])
    alt = f"{len(candidates)} candidate formulas by complexity and {measure}"
    return Figure(
        "pareto.svg",
        drawing.render("pareto", "Candidates", alt),
        alt,
        "Each dot is a candidate formula; further down fits better, further left is simpler. "
        "The line joins those that no simpler one beats.",
    )


def _front(points: Points) -> list[tuple[float, float]]:
    front: list[tuple[float, float]] = []
    for x, y in sorted(points):
        if not front or y < front[-1][1]:
            front.append((x, y))
    return front


def predicted_measured(points: Points, target: str, caption: str) -> Figure | None:
    """Return measured against predicted values of visible rows."""
    both = [value for point in points for value in point]
    shared = fitting("", both, log=True)
    if shared is None:
        return None
    across = Axis(f"predicted {target}", shared.low, shared.high, shared.log)
    up = Axis(f"measured {target}", shared.low, shared.high, shared.log)
    drawing, across, up = _panel(across, up, 480, 440)
    drawing.dots(_placed(points, across, up), "one", 2.6, _opacity(points))
    ends = [(shared.low, shared.low), (shared.high, shared.high)]
    drawing.line(_placed(ends, across, up), "two", 1.5)
    alt = f"Measured against predicted {target} of {len(points)} visible rows"
    return Figure(
        "predicted_measured.svg",
        drawing.render("predicted-measured", "Predicted and measured", alt),
        alt,
        caption,
    )


def residuals(
    points: Points, trend: Sequence[tuple[float, float, float]], target: str, caption: str
) -> Figure | None:
    """Return residuals against predictions; ``trend`` holds position, mean and deviation."""
    across = fitting(f"predicted {target}", [x for x, _ in points])
    up = fitting("measured \u2212 predicted", [y for _, y in points], zero=True)
    if across is None or up is None:
        return None
    drawing, across, up = _panel(across, up, 480, 440)
    drawing.line([(across.start, up.place(0)), (across.stop, up.place(0))], "soft", 1)
    if len(trend) > 1:
        upper = [(x, mean + spread) for x, mean, spread in trend]
        lower = [(x, mean - spread) for x, mean, spread in reversed(trend)]
        drawing.area(_placed([*upper, *lower], across, up), "two", 0.16)
    drawing.dots(_placed(points, across, up), "one", 2.6, _opacity(points))
    if len(trend) > 1:
        drawing.line(_placed([(x, mean) for x, mean, _ in trend], across, up), "two", 2)
    alt = f"Residuals of {len(points)} visible rows against the predicted {target}"
    return Figure("residuals.svg", drawing.render("residuals", "Residuals", alt), alt, caption)


def final_bins(
    bins: Sequence[Mapping[str, float]], target: str, caption: str
) -> tuple[Figure, ...]:
    """Return true means and mean residuals of bins of sealed rows, with deviations."""
    means = [(one["predicted_mean"], one["true_mean"], one["residual_std"]) for one in bins]
    left = [(one["predicted_mean"], one["residual_mean"], one["residual_std"]) for one in bins]
    shared = fitting("", [v for x, y, spread in means for v in (x, y - spread, y + spread)])
    across = fitting(f"mean predicted {target}", [x for x, *_ in means])
    up = fitting("mean residual", [v for _, y, s in left for v in (y - s, y + s)], zero=True)
    if shared is None or across is None or up is None:
        return ()
    labels = (f"mean predicted {target}", f"mean true {target}")
    square = [evolve(shared, label=words) for words in labels]
    ends = [(shared.low, shared.low), (shared.high, shared.high)]
    level = [(across.low, 0.0), (across.high, 0.0)]
    beside = "The same bins: how far true values lie above predictions, in the mean."
    what = f"of {len(bins)} bins of sealed rows"
    return (
        _bars("final_bins", (square[0], square[1]), means, ends, f"Mean values {what}", caption),
        _bars("final_residuals", (across, up), left, level, f"Mean residuals {what}", beside),
    )


def _bars(
    name: str,
    axes: tuple[Axis, Axis],
    marks: Sequence[tuple[float, float, float]],
    expected: Points,
    alt: str,
    caption: str,
) -> Figure:
    drawing, across, up = _panel(*axes, 480, 440)
    drawing.line(_placed(expected, across, up), "two", 1.5)
    for x, y, spread in marks:
        drawing.line(_placed([(x, y - spread), (x, y + spread)], across, up), "one", 1.5)
    drawing.dots(_placed([(x, y) for x, y, _ in marks], across, up), "one", 4.5)
    return Figure(f"{name}.svg", drawing.render(name.replace("_", "-"), alt, alt), alt, caption)


def curve(points: Points, line: Points, feature: str, target: str, caption: str) -> Figure | None:
    """Return measured values over the one column that the formula uses, with its curve."""
    across = fitting(feature, [x for x, _ in points])
    up = fitting(target, [y for _, y in (*points, *line)])
    if across is None or up is None:
        return None
    drawing, across, up = _panel(across, up, 640, 400)
    drawing.dots(_placed(points, across, up), "one", 2.6, _opacity(points))
    drawing.line(_placed(line, across, up), "two", 2)
    alt = f"{target} against {feature}: {len(points)} visible rows and the formula"
    return Figure("curve.svg", drawing.render("curve", "Formula and data", alt), alt, caption)


def _opacity(points: Points) -> float:
    return 0.75 if len(points) < 300 else 0.45
