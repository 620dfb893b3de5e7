"""Results as notebooks show them: verdicts, the formula typeset, plots.

Everything shown comes from plugins, so texts are escaped, plots stand as
images, in which nothing runs, and formulas are typeset from their texts.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from sciharness.errors import HarnessError
from sciharness.mathml import equation

if TYPE_CHECKING:
    from sciharness.api import Result

Json = Mapping[str, Any]  # Any: JSON values

MAX_PLOT_BYTES = 1 << 20
MAX_PLOTS = 12
MAX_FORMULAS = 10
_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{5,}(?:e[+-]?\d+)?(?!\w)")
_STYLE = {
    "table": "border-collapse:collapse;margin:.4em 0",
    "cell": "text-align:left;padding:.15em .8em .15em 0;vertical-align:top",
    "good": "background:#1a7f37;color:#fff",
    "bad": "background:#b42318;color:#fff",
    "plain": "background:#57606a;color:#fff",
}


@frozen
class _Front:
    """The formulas of a run in texts; ``rows`` has those of each table row."""

    typeset: str
    formula: str
    notes: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    count: int


def html_of(result: Result) -> str:
    """Return a result as HTML: status, formula, criteria, other formulas, plots."""
    parts = [
        f"<p><strong>{escape(str(result.view['title']))}</strong> "
        f"{_badge(result.status, result.status == 'succeeded')} "
        f"<code>{escape(result.run_id)}</code></p>",
        *_html_formula(_front(result)),
        _html_table(
            ("criterion", "value", "source", "verdict"), [*map(_html_criterion, result.criteria)]
        ),
        *_html_others(_front(result)),
        *(_html_plot(name, path) for name, path in _plots(result)),
    ]
    return f"<div>{''.join(parts)}</div>"


def markdown_of(result: Result) -> str:
    """Return a result as Markdown: status, formula, criteria; plots only stand in HTML."""
    head = map(_plain, (result.view["title"], result.status, result.run_id))
    lines = ["**{}** ({}, {})".format(*head), ""]
    front = _front(result)
    if front is not None:
        lines += ["`{}`".format(front.formula.translate({ord("`"): "'", ord("\n"): " "})), ""]
    if result.criteria:
        lines += ["| criterion | value | source | verdict |", "|---|---|---|---|"]
    for item in result.criteria:
        cells = (_wanted(item), _value(item), _source(item), "met" if item["met"] else "NOT met")
        lines.append("| " + " | ".join(map(_plain, cells)) + " |")
    return "\n".join(lines) + "\n"


def _html_formula(front: _Front | None) -> Iterator[str]:
    if front is not None:
        yield front.typeset
        yield f"<p><code>{escape(front.formula)}</code></p>"
        if front.notes:
            yield f"<p><small>{escape('; '.join(front.notes))}</small></p>"


def _html_others(front: _Front | None) -> Iterator[str]:
    if front is not None and front.count > 1:
        head = ("candidate", "complexity", "validation relative_rmse", "formula")
        rows = [tuple(map(escape, row)) for row in front.rows]
        table = _html_table(head, rows)
        yield f"<details><summary>{front.count} formulas</summary>{table}</details>"


def _html_criterion(item: Json) -> tuple[str, ...]:
    verdict = _badge("met" if item["met"] else "not met", item["met"])
    reason = "" if item["met"] else f" {escape(str(item['reason']))}"
    return escape(_wanted(item)), escape(_value(item)), escape(_source(item)), verdict + reason


def _html_plot(name: str, path: Path) -> str:
    data = b64encode(path.read_bytes()).decode()
    title = escape(name.removesuffix(".svg").replace("_", " "))
    return (
        f'<figure style="display:inline-block;margin:.4em;background:#fff">'
        f'<img alt="{title}" title="{title}" style="max-width:28em" '
        f'src="data:image/svg+xml;base64,{data}"/></figure>'
    )


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    cell = _STYLE["cell"]
    top = "".join(f'<th style="{cell}">{escape(name)}</th>' for name in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="{cell}">{text}</td>' for text in row) + "</tr>"
        for row in rows
    )
    return f'<table style="{_STYLE["table"]}"><tr>{top}</tr>{body}</table>'


def _badge(text: str, good: bool | None) -> str:
    colour = _STYLE["plain" if good is None else "good" if good else "bad"]
    style = f"{colour};border-radius:.6em;padding:.05em .6em;font-size:.85em"
    return f'<span style="{style}">{escape(text)}</span>'


def _plots(result: Result) -> Iterator[tuple[str, Path]]:
    """Yield the newest plot of each name, as many as may be shown."""
    newest = {
        item["name"]: Path(item["path"])
        for item in result.view["artifacts"]
        if str(item["name"]).endswith(".svg")
    }
    shown = 0
    for name, path in newest.items():
        if shown < MAX_PLOTS and path.is_file() and path.stat().st_size <= MAX_PLOT_BYTES:
            shown += 1
            yield name, path


def _front(result: Result) -> _Front | None:
    """Return the formulas of a run; nothing where there are none to be read."""
    try:
        found = json.loads(result.artifact("formulas.json").read_text("utf-8"))
        chosen = found["candidates"][found["chosen"]]
        symbols = {str(name): str(meaning) for name, meaning in found.get("symbols", {}).items()}
        notes = [f"{name} = {meaning}" for name, meaning in symbols.items()]
        for name, (low, high) in chosen.get("domain", {}).items():
            notes.append(f"{float(low):g} ≤ {name} ≤ {float(high):g}")
        return _Front(
            equation(str(found["target"]), str(chosen["formula"]), symbols),
            f"{found['target']} = {_rounded(chosen['formula'])}",
            tuple(notes),
            tuple(_rows(found)),
            len(found["candidates"]),
        )
    except (HarnessError, OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _rows(found: Json) -> Iterator[tuple[str, ...]]:
    for index, item in list(enumerate(found["candidates"]))[:MAX_FORMULAS]:
        error = item.get("metrics", {}).get("validation", {}).get("relative_rmse")
        yield (
            f"{index} (chosen)" if index == found["chosen"] else str(index),
            str(item["complexity"]),
            "" if error is None else f"{float(error):.3g}",
            _rounded(item["formula"]),
        )


def _rounded(formula: object) -> str:
    return _NUMBER.sub(lambda number: f"{float(number.group()):.5g}", str(formula))


def _wanted(item: Json) -> str:
    return f"{item['metric']} {item['op']} {item['threshold']:g}"


def _value(item: Json) -> str:
    return "no value" if item["value"] is None else f"{item['value']:.5g}"


def _source(item: Json) -> str:
    return "trusted" if item["trusted"] else "any source"


def _plain(text: object) -> str:
    """Return text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|$#])", r"\\\1", str(text)).replace("\n", " ")
