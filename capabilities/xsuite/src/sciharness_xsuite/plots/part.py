"""What an operation gives to the report: words, facts, tables and pictures with captions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from attrs import define, field, frozen

from sciharness import Context

PART, PICTURE = "report_part", "OTHER"
DPI = 150
# Colours that people with any kind of colour vision tell apart (Okabe and Ito).
ALIVE, LOST, LINE, QUIET = "#0072B2", "#D55E00", "#222222", "#8A8A8A"
SEVERAL = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MAP = "viridis"
_STYLE: Any = {  # Any: matplotlib lists every key in a type of its own
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.0,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "axes.formatter.useoffset": False,
}


@frozen
class Table:
    """A table for the report; cells are texts, numbers, truths or nothing."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]  # Any: JSON scalars


@define
class Part:
    """A part of the report in the making."""

    title: str
    text: list[str] = field(factory=list)
    facts: dict[str, Any] = field(factory=dict)  # Any: JSON scalars
    tables: list[Table] = field(factory=list)
    figures: list[tuple[str, str]] = field(factory=list)

    def write(self, context: Context) -> None:
        """Write the part as the artifact ``report_part.json``."""
        plain = {
            "schema": "report-part-v1",
            "title": self.title,
            "text": self.text,
            "facts": {name: _shown(value) for name, value in self.facts.items()},
            "tables": [
                {"caption": one.caption, "header": list(one.header), "rows": list(one.rows)}
                for one in self.tables
            ],
            "figures": [{"name": name, "caption": caption} for name, caption in self.figures],
        }
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
        path = context.output("report_part.json", PART)
        path.write_text(text, encoding="utf-8", newline="\n")


def _shown(value: Any) -> Any:  # Any: a JSON scalar
    """Return a number as a person reads it; nine digits tell every bracket apart."""
    return f"{value:.9g}" if isinstance(value, float) else value


@contextmanager
def picture(
    context: Context,
    part: Part,
    name: str,
    caption: str,
    *,
    size: tuple[float, float] = (6.4, 4.2),
    grid: tuple[int, int] = (1, 1),
    options: Mapping[str, Any] | None = None,  # Any: whatever plt.subplots takes
) -> Iterator[Any]:  # Any: axes of matplotlib, or an array of them
    """Give axes to draw on; the picture is written as the artifact ``name`` (PNG) afterwards."""
    import matplotlib  # heavy, only where something is drawn

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with matplotlib.rc_context(_STYLE):
        figure, axes = pyplot.subplots(*grid, figsize=size, **(options or {}))
        try:
            yield axes
            path = context.output(name, PICTURE)
            figure.savefig(path, dpi=DPI, metadata={"Software": None})  # no version, no time
        finally:
            pyplot.close(figure)
    part.figures.append((name, caption))


def pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of coordinates that say most to a physicist, at most four."""
    wanted = [("x", "y"), ("x", "px"), ("y", "py"), ("delta", "x"), ("zeta", "delta")]
    found = [pair for pair in wanted if set(pair) <= set(names)]
    others = list(pairwise(names))
    return (found or others)[:4]


def axis_label(name: str) -> tuple[str, float]:
    """Return the label of a coordinate's axis, and the factor to its unit there.

    >>> axis_label("x")
    ('x [mm]', 1000.0)
    """
    if name in ("x", "y", "zeta"):
        return f"{name} [mm]", 1e3
    if name in ("px", "py"):
        return f"{name} [1e-3]", 1e3
    return f"{name} [1e-3]", 1e3
