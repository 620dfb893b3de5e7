"""The sealed judgement: its metrics, and every look at the labels."""

from __future__ import annotations

from sciharness_reporting import plots
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
from sciharness_reporting.record import Query, objects, texts, whole
from sciharness_reporting.story import Story
from sciharness_reporting.text import DASH, count, label, number, real, short

_BASELINE = "Knowing only the mean"
_ORDER = ("relative_rmse", "r2", "rmse", "mae", "max_abs_error", "nrmse_std", "balanced_accuracy")
_VIEWS = {
    "final": "sealed rows",
    "train": "visible rows",
    "verification": "verification rows",
}


def judgement(story: Story) -> Section | None:
    """Return the values of every evaluation and all queries of sealed labels."""
    evaluations = [block for one in story.findings.evaluations for block in _evaluation(one)]
    queries = table(
        "Every query of sealed labels",
        ("Labels", "Look", "Predictor", "Result", "Runs that looked"),
        [_query(one) for one in story.run.queries],
    )
    nothing = None
    if queries is None and story.run.sealed:
        nothing = Paragraph("The sealed labels were not queried by this run.", "note")
    title = "Judged on sealed rows" if story.run.queries else "The sealed rows"
    return section("judgement", title, *evaluations, _bins(story), queries, nothing)


def _evaluation(one: Evaluation) -> list[Block]:
    where = _VIEWS.get(one.view, "rows")
    caption = f"Metrics on {count(one.rows, where.removesuffix('s'))}"
    compared = bool(one.baseline)
    header = ["Metric", "Value", *([_BASELINE] if compared else []), "Definition"]
    rows: list[tuple[Line, ...]] = []
    for name, value in sorted(one.metrics.items(), key=_by_use):
        mean = (number(one.baseline.get(name)),) if compared else ()
        rows.append((Code(name), number(value, 5), *mean, one.definitions.get(name, "")))
    for name, why in one.undefined.items():
        rows.append((Code(name), DASH, *((DASH,) if compared else ()), f"undefined: {why}"))
    found = table(caption, header, rows, numeric=("Value", _BASELINE))
    blocks: list[Block] = [found] if found is not None else []
    if (outside := real(one.plain.get("rows_outside_domain"))) is not None:
        blocks.append(_outside(int(outside), one.rows))
    if (covered := real(one.plain.get("interval_coverage"))) is not None:
        blocks.append(
            Paragraph(f"Predicted intervals hold {number(100 * covered, 3)} % of true values.")
        )
    return [*blocks, *_confusion(one)]


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
    rows: list[tuple[Line, ...]] = []
    for row in objects(one.plain.get("confusion")):
        many = row.get("predicted")
        cells = [f"{whole(cell):,}" for cell in many] if isinstance(many, list) else []
        if len(cells) == len(classes):
            rows.append((Code(label(row.get("true"))), *cells))
    heads = [f"predicted {name}" for name in classes]
    found = table("Predicted classes of each true class", ["True", *heads], rows, numeric=heads)
    return [found] if found is not None else []


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
