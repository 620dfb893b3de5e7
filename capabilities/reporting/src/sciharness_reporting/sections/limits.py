"""What the result does not prove."""

from __future__ import annotations

from collections.abc import Iterator

from sciharness_reporting.document import Bullets, Code, Line, Section, section
from sciharness_reporting.record import mapping, texts
from sciharness_reporting.sections.credibility import doubts
from sciharness_reporting.sections.verdict import source_of
from sciharness_reporting.story import Story
from sciharness_reporting.text import clean, label


def limits(story: Story) -> Section | None:
    """Return the limits of what is proved, as far as they apply to this run."""
    lines = (
        *_of_labels(story),
        *_of_formula(story),
        *_of_cards(story),
        *_of_packages(story),
        *_of_digests(),
    )
    return section("limits", "Limits of what is proved", Bullets(tuple(lines)))


def _of_labels(story: Story) -> Iterator[Line]:
    run = story.run
    if any(source_of(run, one) == "trusted" for one in run.criteria):
        yield (
            "A trusted value was computed by an admitted evaluator from labels that were sealed "
            "before the search, on a predictor that was frozen first. It holds for rows like the "
            "sealed ones, drawn by the split named above; it says nothing of other conditions."
        )
    if any(metric.source == "reported" for metric in run.metrics):
        yield (
            "A reported value comes from the program that did the work; nothing independent "
            "backs it."
        )
    if run.sealed and run.isolation == "none":
        yield (
            "On this machine nothing but file layout kept the sealed labels from the plugins; "
            "a hostile plugin could have read them."
        )
    if run.sealed and run.isolation == "landlock":
        yield "Sockets stayed open: a plugin with a helper outside could have been told labels."
    looks = max((query.look for query in run.queries), default=0)
    if looks > 1:
        yield (
            f"The sealed labels were queried {looks} times over all runs; each further look makes "
            "the value more optimistic."
        )
    if any(query.spent for query in run.queries):
        yield "A person overrode the limit of queries with --spend-holdout."


def _of_formula(story: Story) -> Iterator[Line]:
    formulas = story.formulas
    if formulas is None or formulas.choice is None:
        return
    yield "A formula that fits is not thereby the mechanism; others in the table may fit as well."
    said_by_card = bool(texts(story.findings.cards.get(formulas.step, {}).get("limits")))
    if formulas.choice.domain and not said_by_card:
        yield "Outside the valid domain the formula extrapolates, and no value above covers that."
    if any(one.low is not None for one in formulas.choice.constants) and not said_by_card:
        yield "Intervals of constants hold if the formula's form is right; they do not test it."
    if formulas.stop_reason in {"time_limit", "cancelled"}:
        yield (
            "The search was stopped by ",
            Code(formulas.stop_reason),
            ", so a repetition need not give the same bytes.",
        )


def _of_cards(story: Story) -> Iterator[Line]:
    said: list[str] = []
    for card in story.findings.cards.values():
        said += [clean(one, 500) for one in texts(card.get("limits"))]
    told = doubts(story.formulas)
    yield from (one for one in dict.fromkeys(said) if one not in told)


def _of_packages(story: Story) -> Iterator[Line]:
    asked = texts(mapping(story.run.value("contract")).get("deliver"))
    if asked:
        yield (
            f"Packages that were asked for ({', '.join(map(label, asked))}) are made after this "
            "report. If any was published, ",
            Code("packages.md"),
            " in the export names it and says whether anybody reviewed it (",
            Code("independent_binary_review_performed"),
            ").",
        )


def _of_digests() -> Iterator[Line]:
    yield (
        "Digests and pins say which bytes ran and belong together. They are no code signing and "
        "no safety verdict; no independent binary review was performed, and third-party libraries "
        "are recorded by version only."
    )
