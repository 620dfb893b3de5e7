"""Profiles: what can be said of an attachment without running, importing or unpacking it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sciharness.profiles.asking import profile
    from sciharness.profiles.records import Profile

_PLACES = {"Profile": "records", "profile": "asking"}

__all__ = ["Profile", "profile"]


def __getattr__(name: str) -> Any:  # Any: whatever the public name is
    if name not in _PLACES:
        raise AttributeError(f"module 'sciharness.profiles' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"sciharness.profiles.{_PLACES[name]}"), name)
