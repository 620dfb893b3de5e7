"""The predictor where it is no formula: what it is, how it was chosen, what it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sciharness_reporting.document import Badge, Block, Code, Facts, Line, Section, section, table
from sciharness_reporting.record import Json, mapping, objects, texts, whole
from sciharness_reporting.story import Story
from sciharness_reporting.text import DASH, clean, label, number, real

_OUTSIDE = {
    "flag": "marked by in_domain 0",
    "refuse": "refused",
}


def predictor(story: Story) -> Section | None:
    """Return what the frozen predictor is, from its model card and the choice of its model."""
    step = label(mapping(story.run.value("frozen")).get("step"))
    cards = story.findings.cards
    if story.formulas is not None or not cards:
        return None
    step = step if step in cards else list(cards)[-1]
    card, chosen = mapping(cards[step]), story.findings.selections.get(step, {})
    return section(
        "predictor",
        "The predictor",
        Facts(tuple(_facts(step, card, chosen))),
        _candidates(chosen),
        _columns(card),
        _metrics(card),
    )


def _facts(
    step: str, card: Mapping[str, Json], chosen: Mapping[str, Json]
) -> Iterator[tuple[str, Line]]:
    target = mapping(card.get("target"))
    unit = label(target.get("unit"), 30)
    yield "Made by step", Code(step)
    yield "Predicts", (Code(label(target.get("name"))), f" [{unit}]" if unit else "")
    classes = texts(target.get("classes"))
    if classes:
        yield "Classes", ", ".join(label(one) for one in classes[:30])
    if model := label(chosen.get("chosen")):
        yield "Model", model
    if rule := clean(chosen.get("rule"), 1000):
        yield "Chosen by", rule
    if outside := _OUTSIDE.get(label(card.get("out_of_domain"))):
        yield "Rows outside the ranges", outside


def _candidates(chosen: Mapping[str, Json]) -> Block | None:
    candidates = [one for one in objects(chosen.get("candidates")) if label(one.get("model"))]
    names = sorted({name for one in candidates for name in mapping(one.get("metrics"))})[:4]
    taken = label(chosen.get("chosen"))
    header = ["Model", "Setting", "Loss", *(f"{name}, cross-validated" for name in names), ""]
    rows = [_candidate(one, names, taken) for one in candidates]
    marked = next(
        (place for place, one in enumerate(candidates) if label(one.get("model")) == taken), None
    )
    return table("Models that were compared", header, rows, numeric=header[2:-1], marked=marked)


def _candidate(one: Mapping[str, Json], names: list[str], taken: str) -> tuple[Line, ...]:
    model, metrics = label(one.get("model")), mapping(one.get("metrics"))
    setting = ", ".join(
        f"{label(key)} {number(value) if real(value) is not None else label(value)}"
        for key, value in mapping(one.get("setting")).items()
    )
    return (
        Code(model),
        setting,
        number(one.get("loss")),
        *(number(metrics.get(name)) for name in names),
        Badge("chosen") if model == taken else "",
    )


def _columns(card: Mapping[str, Json]) -> Block | None:
    rows: list[tuple[Line, ...]] = [
        (
            Code(label(one.get("name"))),
            label(one.get("unit"), 30),
            number(one.get("min"), 6),
            number(one.get("max"), 6),
        )
        for one in list(objects(card.get("columns")))[:60]
    ]
    return table("Columns and valid domain", ("Column", "Unit", "From", "To"), rows,
                 numeric=("From", "To"))  # fmt: skip


def _metrics(card: Mapping[str, Json]) -> Block | None:
    rows: list[tuple[Line, ...]] = [
        (
            Code(label(one.get("name"))),
            number(one.get("value"), 5),
            label(one.get("source")),
            f"{whole(one.get('rows')):,}" if whole(one.get("rows")) else DASH,
        )
        for one in objects(card.get("metrics"))
    ]
    header = ("Metric", "Value", "From", "Rows")
    return table("What its maker reports", header, rows, numeric=("Value", "Rows"))
