"""Constraint rules of a contract, compared with a request after its defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sciharness.contract.records import ConstraintRule


def broken_by(rule: ConstraintRule, request: Mapping[str, Any]) -> str:  # Any: JSON values
    """Return how ``request`` breaks a rule as text, empty if it does not."""
    if any(not same(request.get(name), value) for name, value in rule.when.items()):
        return ""
    for name, value in rule.require.items():
        if not same(request.get(name), value):
            return f"{name} has to be {value!r}, got {request.get(name)!r}"
    return ""


def same(found: object, wanted: object) -> bool:
    """Return whether two JSON values are equal as JSON sees it: ``true`` is not 1, 1 is 1.0.

    >>> same([1, {"a": 2.0}], [1.0, {"a": 2}]), same(True, 1)
    (True, False)
    """
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, list | tuple) and isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        return found.keys() == wanted.keys() and all(same(found[k], wanted[k]) for k in found)
    return found == wanted
