"""The Chinese README says what the English one says: same chapters, rows, words, commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ENGLISH, CHINESE = ((ROOT / name).read_text("utf-8") for name in ("README.md", "README.zh.md"))
TERM = re.compile(r"\*\*([a-z ]+)\*\*")


def chapters(text: str) -> list[str]:
    """Return the depth of each heading outside of code."""
    return re.findall(r"^(#+) ", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)


def codes(text: str) -> list[set[str]]:
    """Return the code words in the first cell of each table row."""
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    return [set(re.findall(r"`([^`]+)`", row.replace("\\|", "/").split("|")[1])) for row in rows]


def blocks(text: str) -> list[str]:
    """Return the code blocks of shell, YAML and Python that hold no words in Chinese."""
    found = re.findall(r"^```(?:sh|yaml|python)\n(.*?)^```", text, re.M | re.S)
    return [re.sub(r" *# .*", "", one) for one in found]


@pytest.mark.parametrize("facet", [chapters, codes, blocks])
def test_both_readmes_agree(facet: object) -> None:
    assert callable(facet)
    assert facet(CHINESE) == facet(ENGLISH)


def test_both_glossaries_hold_the_same_words() -> None:
    english, chinese = (
        set(TERM.findall(text.split(f"## {title}\n")[1].split("\n## ")[0]))
        for text, title in ((ENGLISH, "Glossary"), (CHINESE, "术语"))
    )

    assert english == chinese
    assert {"look", "report part", "approval of a plan"} <= english
