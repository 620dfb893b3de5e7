"""Pictures, tables and words that steps made stand in the report, as images and as text."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

from attrs import evolve

Report = Callable[[Any], Any]

SVG = (
    b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">'
    b"<title>Border of survival</title><desc>Amplitudes &amp; turns</desc>"
    b"<script>alert(1)</script><circle r='4'/></svg>"
)


def png() -> bytes:
    """Return a picture of one grey pixel."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"\0\x80"))
    return b"\x89PNG\r\n\x1a\n" + head + body + chunk(b"IEND", b"")


PART = {
    "schema": "report-part-v1",
    "title": "Dynamic aperture",
    "text": ["The border lies at 12 sigma.", "<b>bold</b>"],
    "facts": {"turns": 128, "criterion": "lost when |x| > 1 m", "exact maps": True},
    "tables": [
        {
            "caption": "Border by angle",
            "header": ["angle [deg]", "radius [m]", "remark"],
            "rows": [[0, 0.0312, "stable"], [45, None, "open"], ["short"]],
        }
    ],
    "figures": [{"name": "border.svg", "caption": "Survival after 128 turns."}],
}


class Images(HTMLParser):
    """Collects elements, and the images with their alternative texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.shown: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        if tag == "img":
            given = dict(attrs)
            self.shown[given["src"] or ""] = given["alt"] or ""


def told(report: Report, given: Any, **artifacts: Any) -> Any:
    """Write a report with further artifacts, underscores in their names read as dots."""
    named = {name.replace("__", "."): value for name, value in artifacts.items()}
    return report(evolve(given, artifacts={**given.artifacts, **named}))


def test_pictures_of_any_step_are_shown_as_images(report: Report, given: Any) -> None:
    written = told(report, given, scan__border__svg=SVG, scan__map__png=png())

    images = Images(written.html)
    assert "script" not in images.elements
    assert images.shown == {
        f"data:image/svg+xml;base64,{base64.b64encode(SVG).decode()}": "Amplitudes & turns",
        f"data:image/png;base64,{base64.b64encode(png()).decode()}": "map.png of step scan",
    }
    assert "![Amplitudes &amp; turns](scan.border.svg)" in written.markdown
    assert (written.folder / "scan.border.svg").read_bytes() == SVG
    assert (written.folder / "scan.map.png").read_bytes() == png()


def test_a_part_brings_words_facts_and_tables(report: Report, given: Any) -> None:
    written = told(report, given, scan__part__json=PART, scan__border__svg=SVG)

    assert "Step scan: Dynamic aperture" in written.html
    assert "&lt;b&gt;bold" in written.html
    assert "Survival after 128 turns." in written.html
    assert "| 0 | 0.0312 | stable |" in written.markdown
    assert "| 45 | \u2013 | open |" in written.markdown
    assert "short" not in written.markdown.split("Border by angle")[1].split("\n\n")[1]
    assert "- **exact maps:** yes" in written.markdown


def test_what_cannot_be_shown_is_named(report: Report, given: Any) -> None:
    written = told(
        report,
        given,
        scan__a__svg=b"no picture",
        scan__b__png=b"\0" * 3_000_001,
        scan__part__json={"schema": "other"},
    )

    assert "scan.a.svg is no SVG and no PNG" in written.html
    assert "scan.b.png is larger than 3 MB" in written.html
    assert "scan.part.json is no report-part-v1" in written.html
    assert "<img" not in written.html


def test_plots_of_an_earlier_report_are_not_shown_again(report: Report, given: Any) -> None:
    given.run["actions"].append(
        {"step": "report", "capability": "reporting.write", "status": "finished", "seconds": 1.0}
    )

    written = told(report, given, report__pareto__svg=SVG)

    assert "<img" not in written.html


def test_steps_show_what_they_made_in_the_order_of_the_run(report: Report, given: Any) -> None:
    for place, step in enumerate(("points", "fit2", "again")):
        given.run["actions"].insert(
            place, {"step": step, "capability": "x.y", "status": "finished", "seconds": 1.0}
        )

    written = told(report, given, again__a__svg=SVG, points__a__svg=SVG, fit2__a__svg=SVG)

    places = [written.markdown.index(f"**Step {step}**") for step in ("points", "fit2", "again")]
    assert places == sorted(places)


def test_a_page_holds_no_more_pictures_than_it_can_carry(report: Report, given: Any) -> None:
    many = {f"scan__p{number:02}__svg": SVG for number in range(45)}
    large = {f"scan__q{number}__png": png() + bytes(2_900_000) for number in range(9)}

    few, light = told(report, given, **many), told(report, given, **large)

    assert few.html.count("<img") == 40
    assert "40 of 45 pictures are shown" in few.html
    assert light.html.count("<img") == 6  # of 2.9 MB each, within 20 MB
    assert "6 of 9 pictures are shown" in light.html
