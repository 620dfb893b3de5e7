"""The report as a document: which sections, in which order."""

from __future__ import annotations

from sciharness_reporting.document import Document
from sciharness_reporting.sections.fit import fit
from sciharness_reporting.sections.formula import formula
from sciharness_reporting.sections.judgement import judgement
from sciharness_reporting.sections.limits import limits
from sciharness_reporting.sections.made import made
from sciharness_reporting.sections.predictor import predictor
from sciharness_reporting.sections.provenance import provenance
from sciharness_reporting.sections.question import question
from sciharness_reporting.sections.trust import trust
from sciharness_reporting.sections.verdict import verdict
from sciharness_reporting.sections.work import work
from sciharness_reporting.story import Story

_SECTIONS = (formula, predictor, fit, made, trust, judgement, question, work, limits, provenance)


def document(story: Story) -> Document:
    """Return the report of a run; sections without anything to tell are left out."""
    written = (write(story) for write in _SECTIONS)
    run = f" · run {story.run.run_id}" if story.run.run_id else ""
    return Document(
        title=story.run.title,
        kicker=f"Research report{run}",
        lead=story.run.goal,
        verdict=verdict(story),
        sections=tuple(one for one in written if one is not None),
    )
