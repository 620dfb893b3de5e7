"""The usage guide of a predictor: input, output, domain and fallback."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sciharness_publisher.predictor import Card, Column, Model

_GUIDE = """# How to predict {target}

{what}

    python inference.py --model model.json --input INPUT.csv --output OUTPUT.csv

It needs Python 3.11 or newer and numpy. `python minimal_example.py` shows a call.

## Input

A CSV file: UTF-8 without a byte order mark, comma between fields, point as decimal mark, LF line
ends, a header row. Columns are found by name; others are ignored. `sample_id` is optional and
unique; without it rows are numbered from 0.

{columns}

## Output

A CSV file with one row per input row, in the same order:

{outputs}

## Domain

{domain}

| column | from | to |
|---|---|---|
{ranges}

## Fallback

An empty, missing or non-numeric value, a missing column or a repeated `sample_id` stops the
program: exit code 3, a message that names row and column, no output file. A row for which the
model has no finite value stops it with exit code 1. {fallback}

{limits}
"""
_FLAG = (
    "Rows outside are predicted all the same and marked `in_domain` 0: "
    "such a value is an extrapolation that no data support."
)
_REFUSE = "A row outside stops the program; nothing is extrapolated."
_FALLBACK = {
    "flag": "For rows with `in_domain` 0 measure, or use the method that gave the training data.",
    "refuse": "For rows outside the domain measure, or use the method that gave the training data.",
}


def usage_guide(model: Model, card: Card) -> str:
    """Return the guide as Markdown with the headings Input, Output, Domain and Fallback."""
    rule = _FLAG if model.out_of_domain == "flag" else _REFUSE
    limits = "\n".join(f"- {text}" for text in card.limits)
    return _GUIDE.format(
        target=_plain(model.target),
        what=model.describe(),
        columns="\n".join(map(_column, model.columns)) or "The model uses no column.",
        outputs="\n".join(_outputs(model, card)),
        domain=f"Ranges of the training data, ends included. {rule}",
        ranges="\n".join(map(_range, model.columns)),
        fallback=_FALLBACK[model.out_of_domain],
        limits=f"Limits:\n\n{limits}" if limits else "",
    ).rstrip() + "\n"  # fmt: skip


def _outputs(model: Model, card: Card) -> list[str]:
    found = _class_outputs(model, card) if card.classes else _number_outputs(model)
    domain = "- `in_domain`: 1 if every column lies in its range below, else 0"
    return ["- `sample_id`: the row's name", *found, domain]


def _number_outputs(model: Model) -> list[str]:
    unit = f" in {model.unit}" if model.unit else ""
    lines = [f"- `prediction`: {_plain(model.target)}{unit}"]
    if model.interval:
        share = f"{100 * model.interval.level:g} %"
        lines.append(f"- `lower`, `upper`: a band that held {share} of rows kept from the fit")
    return lines


def _class_outputs(model: Model, card: Card) -> list[str]:
    names = [f"`{_plain(name)}`" for name in card.classes]
    chance = names[1] if len(names) == 2 else "the predicted class"
    return [
        f"- `prediction`: {_plain(model.target)}, one of {', '.join(names)}",
        f"- `probability`: how probable {chance} is, 0 to 1",
    ]


def _column(column: Column) -> str:
    unit = f", in {column.unit}" if column.unit else ""
    symbol = f", `{column.symbol}` in the formula" if column.symbol != column.name else ""
    return f"- `{_plain(column.name)}`: number{unit}{symbol}"


def _range(column: Column) -> str:
    return f"| {_plain(column.name)} | {column.minimum!r} | {column.maximum!r} |"


def _plain(name: str) -> str:
    return name.replace("|", "\\|").replace("`", "'").replace("\n", " ")
