"""Foreign text stays text: it adds no element to the page and no markup to the Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given as generated
from hypothesis import settings
from hypothesis import strategies as st

from sciharness_reporting.markdown import escape, fenced
from sciharness_reporting.text import clean

Report = Callable[[Any], Any]

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\"'`</style></title></pre>"
    "](javascript:alert(3)) ![x](http://evil.example/y.png) <http://evil.example> "
    "www.evil.example\n\n# Owned\n\n- item\n\n| a | b |\n```\nraw\n```\n$$x$$ &lt;b&gt; "
    "\u202egnp.exe\u0000\x1b[31m\ud800"
)


def spoiled(value: Any, key: str = "") -> Any:
    """Return a JSON value with hostile words in each text that is not a fixed word."""
    if isinstance(value, dict):
        return {name: spoiled(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [spoiled(one, key) for one in value]
    fixed = {"schema", "op", "view", "task", "source", "frozen", "python", "name"}
    return HOSTILE + value if isinstance(value, str) and key not in fixed else value


class Elements(HTMLParser):
    """Collects elements and attribute names."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}


def elements(page: str) -> Elements:
    found = Elements()
    found.feed(page)
    return found


def test_hostile_text_adds_nothing_to_the_page(report: Report, given: Any) -> None:
    plain = elements(report(given).html)
    run = spoiled(given.run)
    run["sealed_holdout_targets"] = {HOSTILE: run["sealed_holdout_targets"]["data"]}
    run["budget"] = {HOSTILE: {"used": 1, "limit": 2}}
    run["pins"] = {HOSTILE: HOSTILE, "a": f"{HOSTILE} 1 2 3"}
    run["versions"] = {HOSTILE: HOSTILE}
    artifacts = {name: spoiled(value) for name, value in given.artifacts.items()}
    artifacts["fit.formulas.json"]["baselines"] = {HOSTILE: {"relative_rmse": 0.3}}
    artifacts["judge.evaluation.json"]["undefined"] = {HOSTILE: HOSTILE}
    artifacts["judge.evaluation.json"]["metrics"] = {HOSTILE: 1.0}

    page = report(evolve(given, run=run, artifacts=artifacts)).html

    hostile = elements(page)
    assert hostile.elements <= plain.elements | {"br"}
    assert hostile.attributes <= plain.attributes
    assert "&lt;script&gt;" in page
    assert "\u202e" not in page


def test_hostile_text_adds_nothing_to_the_markdown(report: Report, given: Any) -> None:
    library = pytest.importorskip("markdown_it")
    renderer = library.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    own = elements(renderer.render(report(given).markdown))
    run, artifacts = spoiled(given.run), {n: spoiled(v) for n, v in given.artifacts.items()}

    rendered = renderer.render(report(evolve(given, run=run, artifacts=artifacts)).markdown)

    found = elements(rendered)
    assert found.elements <= own.elements | {"blockquote"}
    assert "href" not in found.attributes
    assert set(re.findall(r'src="([^"]*)"', rendered)) <= {
        "predicted_measured.svg",
        "residuals.svg",
        "pareto.svg",
        "final_bins.svg",
        "final_residuals.svg",
        "curve.svg",
    }
    assert rendered.count("<h1>") == 1


def test_hostile_column_names_reach_no_plot(report: Report, given: Any) -> None:
    name = '<script>x</script> "'
    given.artifacts["fit.formulas.json"]["features"] = [name, "amplitude", "bob mass [g]"]
    given.artifacts["fit.formulas.json"]["symbols"] = {"X1": name}
    chosen = given.artifacts["fit.formulas.json"]["candidates"][3]
    chosen["formula"] = "2*sqrt(X1)"

    written = report(
        evolve(given, columns=(name, "amplitude", "bob mass [g]"), units={"period": "<b>"})
    )

    assert "<script" not in written.html
    assert "<b>" not in written.html
    assert "&lt;script&gt;" in written.plot("curve.svg")


words = st.text(st.sampled_from("ab1.)(#-+*_~`|[]!<>&\\:/@$ \n\t=") | st.characters(), max_size=40)


@settings(deadline=None, max_examples=300)
@generated(text=words)
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
    library = pytest.importorskip("markdown_it")
    renderer = library.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    shown = " ".join(clean(text).split())

    tokens = renderer.parse("x" + escape(clean(text)))

    inline = [token for token in tokens if token.type == "inline"]
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    kinds = {child.type for child in inline[0].children}
    assert kinds <= {"text", "softbreak", "text_special"}
    read = "".join(
        "\n" if child.type == "softbreak" else child.content for child in inline[0].children
    )
    assert " ".join(read.split()) == " ".join(("x" + clean(text)).split()) or not shown


@generated(text=st.text(st.sampled_from("`~a\n"), max_size=30))
def test_nothing_closes_a_code_block_from_inside(text: str) -> None:
    library = pytest.importorskip("markdown_it")

    tokens = library.MarkdownIt("commonmark").parse(fenced(text) + "\n\nafter")

    assert [token.type for token in tokens][:1] == ["fence"]
    assert tokens[0].content == text + "\n" or tokens[0].content == text
    assert tokens[2].content == "after"
