"""The operation ``tabular.describe``, step by step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sciharness import Context, Input, Outcome
from sciharness_tabular.description.columns import (
    is_constant,
    is_near_constant,
    number_column,
    text_column,
)
from sciharness_tabular.description.content import Content, part_of, read_content
from sciharness_tabular.description.page import page
from sciharness_tabular.description.relations import Relations, relations_of, target_document
from sciharness_tabular.description.repeats import repeated_rows
from sciharness_tabular.requests import DescribeRequest
from sciharness_tabular.threads import one_thread

SCHEMA = "table-description-v1"
MOST_PAIRS = 500

Json = dict[str, Any]  # Any: JSON values


def run(request: DescribeRequest, context: Context) -> Outcome:
    """Describe input ``data``: description.json and a page of Markdown.

    Of a labelled table these are the visible rows.

    Raises:
        DataError: the file is no table.
    """
    data = context.inputs["data"]
    content = read_content(data)
    context.progress(0.4, "describing columns")
    columns = [_column(name, content, data) for name in content.names]
    context.progress(0.6, "correlating")
    with one_thread():  # sums do not depend on the number of threads then
        relations = relations_of(content, request.rank_rows, context.seed)
    context.progress(0.9, "writing")
    description = _description(request, data, content, columns, relations)
    text = json.dumps(description, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    for name, kind, written in (
        ("description.json", "analysis_result", text),
        ("description.md", "OTHER", page(description)),
    ):
        context.output(name, kind).write_text(written, encoding="utf-8", newline="\n")
    return Outcome(_metrics(description), tuple(description["findings"]))


def _column(name: str, content: Content, data: Input) -> Json:
    is_number = name in content.numbers
    facts = number_column(content.numbers[name]) if is_number else text_column(content.texts[name])
    part = part_of(name, data.table)
    return {"name": name, "unit": content.units.get(name), "part": part, **facts}


def _description(
    request: DescribeRequest,
    data: Input,
    content: Content,
    columns: list[Json],
    relations: Relations,
) -> Json:
    pairs = list(relations.strong_pairs(request.strong_correlation))
    repeated, conflicting = repeated_rows(content, data.table)
    description: Json = {
        "schema": SCHEMA,
        "rows": content.rows,
        "columns": columns,
        "duplicates": repeated,
        "conflicting_rows": conflicting,
        "missing_cells": sum(one["missing"] for one in columns),
        "constant": [one["name"] for one in columns if is_constant(one)],
        "near_constant": [
            one["name"] for one in columns if is_near_constant(one, request.near_constant)
        ],
        "pairs": pairs[:MOST_PAIRS],
        "pairs_found": len(pairs),
        "largest_correlation": relations.largest,
        "target": target_document(data.table, content, relations),
        "correlations": relations.document(),
        "rank_rows": min(content.rows, request.rank_rows),
    }
    return {**description, "findings": list(_findings(description, request))}


def _findings(description: Json, request: DescribeRequest) -> Iterator[str]:
    """Yield what a reader should look at, in sentences."""
    rows = description["rows"]
    if description["missing_cells"]:
        worst = max(description["columns"], key=lambda one: one["missing"])
        cells = _counted(description["missing_cells"], "cell is", "cells are")
        yield (f"{cells} missing, most in {worst['name']!r} ({worst['missing']} of {rows})")
    if description["duplicates"]:
        yield _counted(description["duplicates"], "row repeats", "rows repeat") + " an earlier row"
    if description["conflicting_rows"]:
        conflicting = _counted(description["conflicting_rows"], "row has", "rows have")
        yield f"{conflicting} equal features but another target"
    for key, words in (("constant", "constant"), ("near_constant", "nearly constant")):
        if names := description[key]:
            yield f"{words}: {', '.join(map(repr, names))}"
    if found := description["pairs_found"]:
        strongest = description["pairs"][0]
        pairs = _counted(found, "pair of columns has", "pairs of columns have")
        yield (
            f"{pairs} a correlation of {request.strong_correlation:g} or more, "
            f"first {strongest['first']!r} with {strongest['second']!r}"
        )


def _counted(many: int, one: str, several: str) -> str:
    return f"{many:,} {one if many == 1 else several}"


def _metrics(description: Json) -> dict[str, float]:
    kinds = [one["kind"] for one in description["columns"]]
    found = {
        "rows": float(description["rows"]),
        "columns": float(len(kinds)),
        "number_columns": float(kinds.count("integer") + kinds.count("real")),
        "text_columns": float(kinds.count("text")),
        "duplicates": float(description["duplicates"]),
        "missing_cells": float(description["missing_cells"]),
        "constant_columns": float(len(description["constant"])),
        "near_constant_columns": float(len(description["near_constant"])),
        "strong_pairs": float(description["pairs_found"]),
    }
    if description["largest_correlation"] is not None:
        found["largest_correlation"] = description["largest_correlation"]
    if (target := description["target"]) and target.get("classes"):
        found["classes"] = float(len(target["classes"]))
        found["smallest_class_share"] = min(one["share"] for one in target["classes"])
    return found
