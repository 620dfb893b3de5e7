"""Drawing SVG: text that is the same, byte for byte, wherever it is made.

Every mark carries a class and, as a presentation attribute, its colour on
white paper. A file by itself is therefore a plain light plot that any program
shows; inside the report the page's style sheet takes over and follows the
reader's light or dark theme.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType

COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "ink": "#1d2430",
        "soft": "#5c6675",
        "rule": "#d9dde3",
        "one": "#2361a8",
        "two": "#c2541b",
        "paper": "#ffffff",
    }
)
_FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


class Drawing:
    """An SVG of fixed size to which marks are added in painting order."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._marks: list[str] = []

    def line(
        self, points: Sequence[tuple[float, float]], colour: str, width: float = 1, dash: str = ""
    ) -> None:
        """Draw straight lines through ``points``."""
        path = "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self._marks.append(
            f'<path class="line {colour}" d="{path}" fill="none" stroke="{COLOURS[colour]}" '
            f'stroke-width="{_short(width)}" stroke-linejoin="round"{dashed}/>'
        )

    def area(self, points: Sequence[tuple[float, float]], colour: str, opacity: float) -> None:
        """Fill the polygon with the corners ``points``."""
        path = "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in points) + "Z"
        self._marks.append(
            f'<path class="fill {colour}" d="{path}" fill="{COLOURS[colour]}" '
            f'fill-opacity="{_short(opacity)}"/>'
        )

    def dots(
        self,
        points: Sequence[tuple[float, float]],
        colour: str,
        radius: float = 2.5,
        opacity: float = 1,
    ) -> None:
        """Draw a filled circle at each of ``points``."""
        size = _short(radius)
        marks = (f'<circle cx="{_short(x)}" cy="{_short(y)}" r="{size}"/>' for x, y in points)
        self._marks.append(
            f'<g class="fill {colour}" fill="{COLOURS[colour]}" fill-opacity="{_short(opacity)}">'
            f"{''.join(marks)}</g>"
        )

    def ring(self, x: float, y: float, colour: str, radius: float) -> None:
        """Draw a circle that is not filled."""
        self._marks.append(
            f'<circle class="line {colour}" cx="{_short(x)}" cy="{_short(y)}" '
            f'r="{_short(radius)}" fill="none" stroke="{COLOURS[colour]}" stroke-width="2"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        colour: str = "ink",
        anchor: str = "start",
        turned: bool = False,
    ) -> None:
        """Write ``words`` with their baseline at ``y``; ``turned`` upwards."""
        turn = f' transform="rotate(-90 {_short(x)} {_short(y)})"' if turned else ""
        self._marks.append(
            f'<text class="fill {colour}" x="{_short(x)}" y="{_short(y)}" '
            f'text-anchor="{anchor}" fill="{COLOURS[colour]}"{turn}>{escape(words)}</text>'
        )

    def render(self, name: str, title: str, description: str) -> str:
        """Return the SVG text; ``name`` makes its IDs unique on a page."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" '
            f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" font-family="{_FONT}" font-size="13" '
            f'aria-labelledby="{name}-title {name}-desc">'
            f'<title id="{name}-title">{escape(title)}</title>'
            f'<desc id="{name}-desc">{escape(description)}</desc>'
            f'<rect class="fill paper" width="{self.width}" height="{self.height}" '
            f'fill="{COLOURS["paper"]}"/>{"".join(self._marks)}</svg>\n'
        )


def _short(value: float) -> str:
    """Return a coordinate with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
