"""A report as one HTML page: no network, no scripts, readable in light, dark and print."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape

from sciharness_reporting.document import (
    Badge,
    Block,
    Bullets,
    Code,
    Document,
    Facts,
    Figure,
    Figures,
    Formula,
    Inline,
    Line,
    Listing,
    Maths,
    Meter,
    Paragraph,
    Picture,
    Section,
    Spark,
    Strong,
    Table,
    Verdict,
)
from sciharness_reporting.style import STYLE

# Should foreign text ever slip through as markup, the browser loads and runs nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_LONG_CODE = 40  # longer code may break over lines
_SIGNS = {"good": "\u2713", "bad": "\u2717", "warn": "!"}


def html_page(document: Document) -> str:
    """Return the whole page; every text of the document is escaped."""
    title = escape(document.title)
    body = "".join(_section(section) for section in document.sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#verdict">Skip to the verdict</a>\n'
        f'<header><p class="kicker">{escape(document.kicker)}</p><h1>{title}</h1>'
        f"{_lead(document.lead)}</header>\n"
        f'<div class="page">\n{_contents(document.sections)}\n<main>\n'
        f'<section id="verdict" aria-label="Verdict">{_blocks(document.verdict)}</section>\n'
        f"{body}</main>\n</div>\n</body>\n</html>\n"
    )


def _lead(text: str) -> str:
    return f'<p class="lead">{escape(text)}</p>' if text else ""


def _contents(sections: Sequence[Section]) -> str:
    points = "".join(
        f'<li><a href="#{section.anchor}">{escape(section.title)}</a></li>' for section in sections
    )
    first = '<li><a href="#verdict">Verdict</a></li>'
    return f'<nav aria-label="Contents"><ol>{first}{points}</ol></nav>'


def _section(section: Section) -> str:
    return (
        f'<section id="{section.anchor}" aria-labelledby="{section.anchor}-title">'
        f'<h2 id="{section.anchor}-title">{escape(section.title)}</h2>'
        f"{_blocks(section.blocks)}</section>\n"
    )


def _blocks(blocks: Sequence[Block]) -> str:
    return "".join(map(_block, blocks))


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        kind = "" if block.kind == "plain" else f' class="{block.kind}"'
        return f"<p{kind}>{_line(block.line)}</p>"
    if isinstance(block, Bullets):
        return f"<ul>{''.join(f'<li>{_line(line)}</li>' for line in block.lines)}</ul>"
    if isinstance(block, Facts):
        pairs = (f"<dt>{escape(name)}</dt><dd>{_line(line)}</dd>" for name, line in block.pairs)
        return f"<dl>{''.join(pairs)}</dl>"
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figures):
        figures = "".join(map(_figure, block.figures))
        return f'<div class="figures n{min(2, len(block.figures))}">{figures}</div>'
    if isinstance(block, Formula):
        return _formula(block)
    if isinstance(block, Listing):
        return (
            f"<details><summary>{escape(block.summary)}</summary>"
            f'<pre tabindex="0">{escape(block.text)}</pre></details>'
        )
    return _verdict(block)


def _verdict(block: Verdict) -> str:
    return (
        f'<div class="verdict {block.kind}"><span class="sign" aria-hidden="true">'
        f'{_SIGNS[block.kind]}</span><div><p class="headline">{escape(block.headline)}</p>'
        f"<p>{_line(block.sentence)}</p></div></div>"
    )


def _formula(block: Formula) -> str:
    caption = f"<figcaption>{escape(block.caption)}</figcaption>" if block.caption else ""
    typeset = f'<div class="typeset" tabindex="0">{block.mathml}</div>' if block.mathml else ""
    return (
        f'<figure class="formula">{typeset}'
        f'<pre tabindex="0"><code>{escape(block.text)}</code></pre>{caption}</figure>'
    )


def _figure(figure: Figure | Picture) -> str:
    shown = _image(figure) if isinstance(figure, Picture) else figure.svg.strip()
    return f'<figure class="plot">{shown}<figcaption>{escape(figure.caption)}</figcaption></figure>'


def _image(picture: Picture) -> str:
    # As an image a foreign SVG runs no script and loads nothing.
    content = b64encode(picture.content).decode()
    return f'<img src="data:{picture.media};base64,{content}" alt="{escape(picture.alt)}">'


def _table(block: Table) -> str:
    numeric = [name in block.numeric for name in block.header]
    head = "".join(
        f'<th scope="col"{_aligned(right)}>{escape(name)}</th>'
        for name, right in zip(block.header, numeric, strict=True)
    )
    rows = "".join(
        f"<tr{_mark(number == block.marked)}>"
        + "".join(
            f"<td{_aligned(right)}>{_line(cell)}</td>"
            for cell, right in zip(row, numeric, strict=True)
        )
        + "</tr>"
        for number, row in enumerate(block.rows)
    )
    caption = f"<caption>{escape(block.caption)}</caption>" if block.caption else ""
    return (
        f'<div class="table" role="region" tabindex="0" aria-label="{escape(block.caption)}">'
        f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _aligned(right: bool) -> str:
    return ' class="num"' if right else ""


def _mark(marked: bool) -> str:
    return ' class="marked"' if marked else ""


def _line(line: Line) -> str:
    parts = line if isinstance(line, tuple) else (line,)
    return "".join(map(_inline, parts))


def _inline(part: Inline) -> str:
    if isinstance(part, str):
        return escape(part).replace("\n", "<br>")
    if isinstance(part, Code):
        long = ' class="long"' if len(part.text) > _LONG_CODE else ""
        return f"<code{long}>{escape(part.text)}</code>"
    if isinstance(part, Strong):
        return f"<strong>{escape(part.text)}</strong>"
    if isinstance(part, Badge):
        hint = f' title="{escape(part.title)}"' if part.title else ""
        return f'<span class="badge {part.kind}"{hint}>{escape(part.text)}</span>'
    if isinstance(part, Maths):
        return part.mathml
    return _spark(part) if isinstance(part, Spark) else _meter(part)


def _spark(part: Spark) -> str:
    top = max(part.counts, default=0) or 1
    bars = "".join(
        f'<rect x="{4 * place}" y="{18 - 18 * many / top:.1f}" width="3" '
        f'height="{18 * many / top:.1f}"/>'
        for place, many in enumerate(part.counts)
    )
    width = 4 * len(part.counts)
    return (
        f'<svg class="spark" viewBox="0 0 {width} 18" width="{width}" height="18" '
        f'aria-hidden="true">{bars}</svg>'
    )


def _meter(part: Meter) -> str:
    filled = 100 * min(1.0, max(0.0, part.share))
    return (
        f'<span class="meter {part.kind}" aria-hidden="true">'
        f'<span style="width:{filled:.0f}%"></span></span>'
    )
