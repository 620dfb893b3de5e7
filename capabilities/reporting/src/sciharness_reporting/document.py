"""A report as data: sections made of blocks, whatever it is written as."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen


@frozen
class Code:
    """Text in a fixed-width face: names, digests, formulas."""

    text: str


@frozen
class Strong:
    """Text that stands out."""

    text: str


@frozen
class Badge:
    """A short word in a box; ``kind`` is good, bad, warn, quiet or trusted."""

    text: str
    kind: str = "quiet"
    title: str = ""


@frozen
class Spark:
    """The shape of a distribution: counts of rows in equal bins."""

    counts: tuple[int, ...]


@frozen
class Meter:
    """How far a value uses up a limit: ``share`` of it, 1 meaning all."""

    share: float
    kind: str = "quiet"


@frozen
class Maths:
    """Typeset mathematics: MathML, and plain text where that cannot be shown."""

    mathml: str
    text: str


Inline = str | Code | Strong | Badge | Spark | Meter | Maths
Line = Inline | tuple[Inline, ...]


@frozen
class Paragraph:
    """Running text; ``kind`` is plain, lead, note or warn."""

    line: Line
    kind: str = "plain"


@frozen
class Bullets:
    """A list of points."""

    lines: tuple[Line, ...]


@frozen
class Facts:
    """Names with what they stand for."""

    pairs: tuple[tuple[str, Line], ...]


@frozen
class Table:
    """Rows under a header; columns named in ``numeric`` are aligned as numbers."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    numeric: frozenset[str] = frozenset()
    marked: int | None = None


@frozen
class Figure:
    """A plot: SVG text, its file name, what it shows in words, a caption."""

    name: str
    svg: str
    alt: str
    caption: str


@frozen
class Picture:
    """A picture that a step made: its bytes as they are, shown as an image and never as markup."""

    name: str
    content: bytes
    media: str
    alt: str
    caption: str


@frozen
class Figures:
    """Plots and pictures that belong side by side."""

    figures: tuple[Figure | Picture, ...]


@frozen
class Formula:
    """The formula, typeset, with its exact text and LaTeX if known."""

    mathml: str
    text: str
    latex: str = ""
    caption: str = ""


@frozen
class Listing:
    """A text shown as it is, folded away under ``summary``."""

    summary: str
    text: str


@frozen
class Verdict:
    """The answer on top: ``kind`` is good, bad or warn."""

    kind: str
    headline: str
    sentence: Line


Block = Paragraph | Bullets | Facts | Table | Figures | Formula | Listing | Verdict


@frozen
class Section:
    """A part of the report under a heading."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@frozen
class Document:
    """A whole report."""

    title: str
    kicker: str
    lead: str
    verdict: tuple[Block, ...]
    sections: tuple[Section, ...] = field(default=())

    @property
    def figures(self) -> Sequence[Figure | Picture]:
        """All plots and pictures, in their order."""
        groups = [b for s in self.sections for b in s.blocks if isinstance(b, Figures)]
        return [figure for group in groups for figure in group.figures]


def section(anchor: str, title: str, *blocks: Block | None) -> Section | None:
    """Return a section of the blocks that are there, or ``None`` without any."""
    there = tuple(block for block in blocks if block is not None)
    return Section(anchor, title, there) if there else None


def table(
    caption: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Line]],
    *,
    numeric: Sequence[str] = (),
    marked: int | None = None,
) -> Table | None:
    """Return a table, or ``None`` without rows."""
    if not rows:
        return None
    cells = tuple(tuple(row) for row in rows)
    return Table(caption, tuple(header), cells, frozenset(numeric), marked)
