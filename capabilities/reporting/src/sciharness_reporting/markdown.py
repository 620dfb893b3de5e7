"""A report as Markdown, for terminals, reviews and repositories."""

from __future__ import annotations

import re

from sciharness_reporting.document import (
    Badge,
    Block,
    Bullets,
    Code,
    Document,
    Facts,
    Figures,
    Formula,
    Inline,
    Line,
    Listing,
    Maths,
    Paragraph,
    Section,
    Spark,
    Strong,
    Table,
    Verdict,
)

_ACTIVE = re.compile(r"([\\`*_\[\]|~$])")
_LINKS = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp)(:)|(www)(\.)")
_LINE_START = re.compile(r"^(\d*)([-+#=.)])(?=[\s#=-]|$)", re.MULTILINE)
_BARS = "▁▂▃▄▅▆▇█"
_SIGNS = {"good": "✓", "bad": "✗", "warn": "!"}


def markdown_page(document: Document) -> str:
    """Return the whole report; every text of the document is escaped."""
    parts = [f"# {escape(document.title)}", f"*{escape(document.kicker)}*"]
    if document.lead:
        parts.append(_guarded(escape(document.lead)))
    parts.extend(map(_block, document.verdict))
    parts.extend(map(_section, document.sections))
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Return ``text`` so that Markdown shows it and nothing else: no markup, no links."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = _ACTIVE.sub(r"\\\1", safe).replace("@", "&#64;")
    safe = _LINKS.sub(lambda found: found[1] + "&#58;" if found[1] else found[3] + "&#46;", safe)
    return re.sub(r"[ \t]*\n\s*", "\n", safe)


def _guarded(text: str) -> str:
    """Return lines of which none starts a list, heading or rule."""
    return _LINE_START.sub(r"\1\\\2", text.strip())


def _section(section: Section) -> str:
    return "\n\n".join([f"## {escape(section.title)}", *map(_block, section.blocks)])


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        prefix = "> " if block.kind in {"warn", "note"} else ""
        return prefix + _guarded(_line(block.line)).replace("\n", f"\n{prefix}")
    if isinstance(block, Bullets):
        return "\n".join(f"- {_guarded(_flat(_line(line)))}" for line in block.lines)
    if isinstance(block, Facts):
        named = ((escape(name), _flat(_line(line))) for name, line in block.pairs)
        return "\n".join(f"- **{name}:** {words}" for name, words in named)
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figures):
        return "\n\n".join(
            f"![{escape(figure.alt)}]({figure.name})\n\n*{escape(figure.caption)}*"
            for figure in block.figures
        )
    if isinstance(block, Formula):
        return _formula(block)
    if isinstance(block, Listing):
        return f"**{escape(block.summary)}**\n\n{fenced(block.text)}"
    return _verdict(block)


def _verdict(block: Verdict) -> str:
    return (
        f"> **{_SIGNS[block.kind]} {escape(block.headline)}**\n>\n> {_flat(_line(block.sentence))}"
    )


def _formula(block: Formula) -> str:
    parts = [fenced(block.latex, "math")] if block.latex else []
    parts.append(fenced(block.text))
    if block.caption:
        parts.append(f"*{escape(block.caption)}*")
    return "\n\n".join(parts)


def fenced(text: str, language: str = "") -> str:
    """Return a code block that no run of backquotes inside can close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _table(block: Table) -> str:
    rules = ["---:" if name in block.numeric else "---" for name in block.header]
    rows = [_row([escape(name) for name in block.header]), _row(rules)]
    rows += [_row([_flat(_line(cell)) for cell in row]) for row in block.rows]
    caption = f"**{escape(block.caption)}**\n\n" if block.caption else ""
    return caption + "\n".join(rows)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _flat(text: str) -> str:
    return " ".join(text.split())


def _line(line: Line) -> str:
    parts = line if isinstance(line, tuple) else (line,)
    return "".join(map(_inline, parts))


def _inline(part: Inline) -> str:
    if isinstance(part, str):
        return escape(part)
    if isinstance(part, Code):
        return _code(part.text)
    if isinstance(part, Strong):
        return f"**{escape(part.text)}**"
    if isinstance(part, Badge):
        return f"**{escape(part.text)}**" if part.kind == "trusted" else escape(part.text)
    if isinstance(part, Maths):
        return _code(part.text)
    if isinstance(part, Spark):
        top = max(part.counts, default=0) or 1
        return "".join(_BARS[round(7 * many / top)] for many in part.counts)
    return ""  # a meter stands beside its number


def _code(text: str) -> str:
    """Return a code span; where a table or a backquote would break it, escaped text."""
    flat = _flat(text)
    if "`" in flat or "|" in flat or not flat:
        return escape(flat)
    return f"`{flat}`"
