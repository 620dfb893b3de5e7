"""What training and benchmark tell in the report of a run: words, facts and tables, no times."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sciharness.plugin import Context

PART = ("report_part.json", "report_part")

Json = Mapping[str, Any]  # Any: JSON values


def tell(
    context: Context,
    title: str,
    *,
    text: Sequence[str] = (),
    facts: Json | None = None,
    tables: Sequence[Json] = (),
) -> None:
    """Write one part for the report. Equal results give equal bytes, so it holds no times."""
    part = {
        "schema": "report-part-v1",
        "title": title,
        "text": list(text),
        "facts": dict(facts or {}),
        "tables": list(tables),
    }
    content = json.dumps(part, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    context.output(*PART).write_text(content, encoding="utf-8", newline="\n")


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Json:
    """Return a table of a part; cells are texts or numbers."""
    return {"caption": caption, "header": list(header), "rows": [list(row) for row in rows]}
