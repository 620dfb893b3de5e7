"""What a report tells: the run, what was found, and the visible rows."""

from __future__ import annotations

from attrs import evolve, frozen

from sciharness import Context
from sciharness_reporting.findings import Findings, Formulas, read_findings
from sciharness_reporting.parts import Part, read_parts
from sciharness_reporting.record import Run, read_run
from sciharness_reporting.text import label
from sciharness_reporting.visible import Visible, read_visible, with_predictions

_OWN = "reporting.write"


@frozen(eq=False)
class Story:
    """Everything the sections of a report draw from; ``gaps`` says what could not be shown."""

    run: Run
    findings: Findings
    formulas: Formulas | None
    visible: Visible | None
    parts: tuple[Part, ...] = ()
    gaps: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The target column with its unit, as plots and sentences name it."""
        if self.visible is not None and self.visible.target is not None:
            return label(self.visible.target.title)
        if self.formulas is not None and self.formulas.target:
            return self.formulas.target
        return next((sealed.target for sealed in self.run.sealed), "target")


def read_story(context: Context) -> Story:
    """Read all inputs of the report."""
    run = read_run(context.inputs["run"].path)
    findings = read_findings(context.inputs)
    visible, gap = read_visible(context.inputs.get("data"))
    earlier = {one.step for one in run.actions if one.capability == _OWN}
    parts, left_out = read_parts(context.inputs, [one.step for one in run.actions], earlier)
    gaps = tuple(one for one in (gap, left_out) if one)
    story = Story(run, findings, findings.main(run), visible, parts, gaps)
    if story.formulas is None or visible is None:
        return story
    computed, gap = with_predictions(visible, story.formulas)
    return evolve(story, visible=computed, gaps=(*story.gaps, gap) if gap else story.gaps)
