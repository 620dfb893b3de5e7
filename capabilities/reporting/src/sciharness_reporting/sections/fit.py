"""How well it fits: plots of the visible rows."""

from __future__ import annotations

from sciharness_reporting import plots
from sciharness_reporting.document import Block, Figure, Figures, Paragraph, Section, section
from sciharness_reporting.findings import Formulas
from sciharness_reporting.story import Story
from sciharness_reporting.text import count, label
from sciharness_reporting.visible import Visible, named_columns, spread_out, trend


def fit(story: Story) -> Section | None:
    """Return the plots that show fit and residuals."""
    visible = story.visible
    pairs: list[Figure | None] = []
    single: Figure | None = None
    if visible is not None and visible.predicted is not None and story.formulas is not None:
        pairs = _visible_plots(story, visible)
        single = _curve(story, story.formulas, visible)
    shown = tuple(figure for figure in pairs if figure is not None)
    return section(
        "fit",
        "How well it fits",
        Figures((single,)) if single else None,
        Figures(shown) if shown else None,
        _left_out(visible),
    )


def _visible_plots(story: Story, visible: Visible) -> list[Figure | None]:
    import numpy as np

    assert visible.predicted is not None and visible.target is not None
    known = np.isfinite(visible.predicted)
    predicted, measured = visible.predicted[known], visible.target.values[known]
    with np.errstate(over="ignore"):
        residual = measured - predicted
    if not len(predicted) or not np.isfinite(residual).all():
        return []
    drawn = spread_out(len(predicted), abs(residual))
    pairs = list(zip(predicted[drawn].tolist(), measured[drawn].tolist(), strict=True))
    scatter = list(zip(predicted[drawn].tolist(), residual[drawn].tolist(), strict=True))
    rows = _rows(len(drawn), len(predicted))
    return [
        plots.predicted_measured(
            pairs, story.target, f"Visible rows ({rows}). On the line a prediction is exact."
        ),
        plots.residuals(
            scatter,
            trend(predicted, residual),
            story.target,
            f"Visible rows ({rows}). Line and band: mean and standard deviation of residuals in "
            "bins of like prediction. A line that leaves zero shows what the formula misses.",
        ),
    ]


def _rows(drawn: int, every: int) -> str:
    if drawn == every:
        return f"all {every:,}"
    return f"{drawn:,} of {every:,} drawn, the largest residuals among them"


def _curve(story: Story, formulas: Formulas, visible: Visible) -> Figure | None:
    """Return data and curve where the formula uses a single column."""
    import numpy as np

    from sciharness_publisher.evaluation import evaluate
    from sciharness_publisher.expression import names_in, parse

    assert formulas.choice is not None and visible.target is not None
    tree = parse(formulas.choice.formula)
    names = names_in(tree)
    if len(names) != 1:
        return None
    values = named_columns(visible, formulas)[names[0]]
    column = next(one for one in visible.features if one.values is values or one.name == names[0])
    grid = np.linspace(values.min(), values.max(), 241)
    line = np.broadcast_to(evaluate(tree, {names[0]: grid}), grid.shape)
    if not np.isfinite(line).all():
        return None
    drawn = spread_out(len(values))
    return plots.curve(
        list(zip(values[drawn].tolist(), visible.target.values[drawn].tolist(), strict=True)),
        list(zip(grid.tolist(), line.tolist(), strict=True)),
        label(column.title),
        story.target,
        "The formula uses one column: its curve, and the visible rows "
        f"({len(drawn):,} of {len(values):,}).",
    )


def _left_out(visible: Visible | None) -> Block | None:
    if visible is None or not visible.not_finite:
        return None
    rows = count(visible.not_finite, "visible row")
    said = f"On {rows} the formula gives no finite value; the plots leave them out."
    return Paragraph(said, "warn")
