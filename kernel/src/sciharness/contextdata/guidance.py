"""The guide to preparing a context.data directory, for people and for agents."""

from __future__ import annotations

from importlib.resources import files


def guide() -> str:
    """Return the guide as Markdown; the docs page is built from the same file."""
    return files("sciharness.contextdata").joinpath("guide.md").read_text(encoding="utf-8")
