"""The plugin: writes the report of a run."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from sciharness import Capability, Context, InputSpec, Outcome, OutputSpec, hookimpl

REPORT_TYPE = "scientific_report"
PLOT_TYPE = "OTHER"
_PLOTS = (
    "curve.svg",
    "predicted_measured.svg",
    "residuals.svg",
    "final_bins.svg",
    "final_residuals.svg",
    "confusion.svg",
    "calibration.svg",
    "pareto.svg",
)


@frozen
class WriteRequest:
    """Nothing can be chosen: a report tells all there is."""


def write(request: WriteRequest, context: Context) -> Outcome:
    """Write report.html, report.md and their plots from the record of a run.

    Artifacts come as further inputs named ``STEP.NAME``, the visible rows as
    ``data``. Whatever is absent or cannot be read leaves a gap in the report,
    so that failed and unfinished runs get one as well.
    """
    # What writes is only loaded to write, not to describe.
    from sciharness_reporting.document import Picture
    from sciharness_reporting.html import html_page
    from sciharness_reporting.markdown import markdown_page
    from sciharness_reporting.report import document
    from sciharness_reporting.story import read_story

    story = read_story(context)
    report = document(story)
    pages = {"report.html": html_page(report), "report.md": markdown_page(report)}
    for name, page in pages.items():
        context.output(name, REPORT_TYPE).write_text(page, encoding="utf-8", newline="\n")
    for figure in report.figures:
        content = figure.content if isinstance(figure, Picture) else figure.svg.encode()
        context.output(figure.name, PLOT_TYPE).write_bytes(content)
    return Outcome(notes=story.gaps)


@hookimpl
def harness_capabilities() -> Sequence[Capability]:
    """Return the one operation of this plugin."""
    return (
        Capability(
            operation="write",
            run=write,
            request=WriteRequest,
            summary="Write a report of the run: one offline HTML page and Markdown, with plots.",
            group="report and visualisation",
            inputs=(
                InputSpec("run", types=("run",), summary="the run record, as JSON"),
                InputSpec(
                    "data",
                    types=("labelled_table",),
                    optional=True,
                    summary="the visible rows of a labelled table",
                ),
            ),
            outputs=(
                OutputSpec("report.html", REPORT_TYPE),
                OutputSpec("report.md", REPORT_TYPE),
                *(OutputSpec(name, PLOT_TYPE, optional=True) for name in _PLOTS),
            ),
        ),
    )
