"""The sealed judgement: its metrics, and every look at the labels."""

from __future__ import annotations

from collections.abc import Mapping

from sciharness_reporting import class_plots, plots
from sciharness_reporting.document import (
    Badge,
    Block,
    Code,
    Figures,
    Inline,
    Line,
    Paragraph,
    Section,
    section,
    table,
)
from sciharness_reporting.findings import Evaluation
from sciharness_reporting.record import Json, Query, objects, texts, whole
from sciharness_reporting.story import Story
from sciharness_reporting.text import DASH, clean, count, label, number, real, short
from sciharness_reporting.visible import Visible

_BASELINES = {
    "regression": "Knowing only the mean",
    "classification": "Knowing only the shares",
}
_COMMONEST = "Always the commonest class"
_ORDER = ("relative_rmse", "r2", "rmse", "mae", "max_abs_error", "nrmse_std", "balanced_accuracy")
_VIEWS = {
    "final": "sealed rows",
    "train": "visible rows",
    "verification": "verification rows",
}


def judgement(story: Story) -> Section | None:
    """Return the values of every evaluation and all queries of sealed labels."""
    evaluations = [block for one in story.findings.evaluations for block in _evaluation(story, one)]
    queries = table(
        "Every query of sealed labels",
        ("Labels", "Look", "Predictor", "Result", "Runs that looked"),
        [_query(one) for one in story.run.queries],
    )
    nothing = None
    if queries is None and story.run.sealed:
        nothing = Paragraph("The sealed labels were not queried by this run.", "note")
    title = "Judged on sealed rows" if story.run.queries else "The sealed rows"
    plans = table(
        "Plans that a person approved",
        ("Plan", "Approved by", "In the words", "SHA-256"),
        [_approval(one) for one in objects(story.run.value("approvals"))],
    )
    shown = (_bins(story), _classes(story))
    return section("judgement", title, *evaluations, *shown, queries, plans, nothing)


def _evaluation(story: Story, one: Evaluation) -> list[Block]:
    where = _VIEWS.get(one.view, "rows")
    caption = f"Metrics on {count(one.rows, where.removesuffix('s'))}"
    name_of, baseline = _baseline(story, one)
    compared = bool(baseline)
    header = ["Metric", "Value", *([name_of] if compared else []), "Definition"]
    rows: list[tuple[Line, ...]] = []
    for name, value in sorted(one.metrics.items(), key=_by_use):
        mean = (number(baseline.get(name)),) if compared else ()
        rows.append((Code(name), number(value, 5), *mean, one.definitions.get(name, "")))
    for name, why in one.undefined.items():
        rows.append((Code(name), DASH, *((DASH,) if compared else ()), f"undefined: {why}"))
    found = table(caption, header, rows, numeric=("Value", name_of))
    blocks: list[Block] = [found] if found is not None else []
    if (outside := real(one.plain.get("rows_outside_domain"))) is not None:
        blocks.append(_outside(int(outside), one.rows))
    if (covered := real(one.plain.get("interval_coverage"))) is not None:
        blocks.append(
            Paragraph(f"Predicted intervals hold {number(100 * covered, 3)} % of true values.")
        )
    return [*blocks, *_confusion(one)]


def _baseline(story: Story, one: Evaluation) -> tuple[str, Mapping[str, float]]:
    """Return what a prediction that knows only the visible labels reaches, and its name."""
    if one.baseline:
        return _BASELINES.get(one.task, _BASELINES["regression"]), one.baseline
    rows, visible = _confused(one), story.visible
    told = sum(sum(counts) for _, counts in rows)
    if one.task != "classification" or visible is None or visible.target is None or not told:
        return _COMMONEST, {}
    classes = texts(one.plain.get("classes"))
    commonest = _commonest(visible)
    if told != one.rows or commonest not in classes:  # small classes are left out
        return _COMMONEST, {}
    right = sum(sum(counts) for name, counts in rows if name == commonest)
    return _COMMONEST, {"accuracy": right / told, "balanced_accuracy": 1 / len(rows)}


def _commonest(visible: Visible) -> str:
    import numpy as np

    assert visible.target is not None
    codes = visible.target.values.astype(np.int64)
    counts = np.bincount(codes[codes >= 0], minlength=1)
    place = int(counts.argmax())
    return visible.classes[place] if place < len(visible.classes) else ""


def _by_use(metric: tuple[str, float]) -> tuple[int, str]:
    name = metric[0]
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def _bins(story: Story) -> Block | None:
    final = story.findings.final()
    if final is None or final.task != "regression" or not final.bins:
        return None
    least = min(whole(one.get("n")) for one in final.bins)
    caption = (
        f"The {final.rows:,} sealed rows, joined to {count(len(final.bins), 'bin')} of at least "
        f"{least} rows by their prediction. Bars: one standard deviation of the residuals."
    )
    found = plots.final_bins(final.bins, story.target, caption)
    return Figures(found) if found else None


def _outside(outside: int, rows: int) -> Block:
    if not outside:
        return Paragraph(f"All {rows:,} rows lie inside the predictor's valid domain.", "note")
    said = f"{outside:,} of {rows:,} rows lie outside the predictor's valid domain."
    return Paragraph(said, "warn")


def _confusion(one: Evaluation) -> list[Block]:
    classes = texts(one.plain.get("classes"))
    rows: list[tuple[Line, ...]] = [
        (Code(label(name)), *(f"{cell:,}" for cell in counts)) for name, counts in _confused(one)
    ]
    heads = [f"predicted {name}" for name in classes]
    found = table("Predicted classes of each true class", ["True", *heads], rows, numeric=heads)
    return [found] if found is not None else []


def _confused(one: Evaluation) -> list[tuple[str, list[int]]]:
    """Return how often rows of each true class were taken for each class."""
    classes = texts(one.plain.get("classes"))
    rows = []
    for row in objects(one.plain.get("confusion")):
        many = row.get("predicted")
        counts = [whole(cell) for cell in many] if isinstance(many, list) else []
        if len(counts) == len(classes):
            rows.append((clean(row.get("true")), counts))
    return rows


def _classes(story: Story) -> Block | None:
    """Return the plots of a classification that was judged on sealed rows."""
    final = story.findings.final()
    if final is None or final.task != "classification":
        return None
    classes, rows = texts(final.plain.get("classes")), _confused(final)
    caption = (
        f"The {final.rows:,} sealed rows: how many of each true class (a line) were taken for "
        "which class. The diagonal is right; a shade is the share of the true class."
    )
    left = f" Classes of few rows are left out ({len(classes) - len(rows)})."
    caption += left if len(rows) < len(classes) else ""
    shown = [class_plots.confusion(classes, rows, caption)]
    if len(classes) == 2 and final.bins:
        said = (
            "On the line predicted probabilities are what happens. Bars: one standard error of "
            f"the share, of {count(len(final.bins), 'bin')} of like probability."
        )
        shown.append(class_plots.calibration(final.bins, classes[1], said))
    there = tuple(figure for figure in shown if figure is not None)
    return Figures(there) if there else None


def _approval(one: Mapping[str, Json]) -> tuple[Line, ...]:
    who, words = label(one.get("name")) or DASH, label(one.get("words"), 400)
    return (Code(label(one.get("plan"), 80)), who, words, Code(short(one.get("sha256"))))


def _query(one: Query) -> tuple[Line, ...]:
    result: list[Inline] = [Badge("replayed") if one.replayed else Badge("computed", "good")]
    if one.spent:
        result += [" ", Badge("--spend-holdout", "warn")]
    return (
        (Code(one.input), " ", Code(one.target)),
        f"look {one.look}",
        Code(short(one.predictor_digest)),
        tuple(result),
        ", ".join(one.run_ids) or "this run",
    )
