"""Rules that tie the fields of one contract together."""

from __future__ import annotations

import re
from typing import Any

from sciharness.contract._build import CONTEXT_DATA, role_of
from sciharness.contract.findings import Findings, describe
from sciharness.contract.paths import DocumentPath, show_path
from sciharness.contract.scalars import BROKEN

Values = dict[str, Any]  # Any: cleaned JSON values, BROKEN items kept in their place

_LABELLED = ("labelled_table",)
_TABLES = ("labelled_table", "table")
_FIELD_ROLES = {
    "task": _LABELLED,
    "target": _LABELLED,
    "sigma": _LABELLED,
    "weights": _TABLES,
    "features": _TABLES,
    "ignore": _TABLES,
    "missing": _TABLES,
    "solver": ("reference_solver",),
}
_ABSOLUTE = re.compile(r"[/\\~]|[A-Za-z]:|[A-Za-z][A-Za-z0-9+.-]*://")


def check_consistency(values: Values, findings: Findings) -> None:
    """Note every contradiction between the fields of a contract.

    An entry that nothing may be looked up by (a second one of a name, an input
    at a forbidden path) becomes ``BROKEN``, so that no file outside is read.
    """
    for index, criterion in _items(values, "acceptance"):
        _check_completion(criterion, ("acceptance", index), findings)
    refused = _check_names(values, findings)
    for index, item in _items(values, "inputs"):
        check_input(item, ("inputs", index), findings)
        if not _check_path(item["path"], ("inputs", index, "path"), findings):
            refused.append(("inputs", index))
    for section, index in refused:
        values[section][index] = BROKEN
    _check_holdout(values.get("holdout"), findings)
    _check_publish(values, findings)


def check_input(item: Values, path: DocumentPath, findings: Findings) -> None:
    """Note every contradiction within one input; its path is not looked at."""
    role = role_of(item)
    for name, roles in _FIELD_ROLES.items():
        if name in item and role not in roles:
            found, expected = f"`{name}` for role {role}", f"it only for role {' or '.join(roles)}"
            if role == CONTEXT_DATA and name != "solver":
                found, expected = f"`{name}` without `target`", "it beside a target variable"
            findings.problem((*path, name), found=found, expected=expected, at_key=True)
    _check_columns(item, path, findings)


def _items(values: Values, section: str) -> list[tuple[int, Values]]:
    found = values.get(section) or []
    return [(index, item) for index, item in enumerate(found) if item is not BROKEN]


def _check_names(values: Values, findings: Findings) -> list[tuple[str, int]]:
    names: dict[str, tuple[str, int]] = {}  # inputs and steps share one space of names
    second = _check_unique(values, "inputs", "name", names, findings)
    second += _check_unique(values, "steps", "id", names, findings)
    return second + _check_unique(values, "acceptance", "metric", {}, findings)


def _check_unique(
    values: Values, section: str, key: str, seen: dict[str, tuple[str, int]], findings: Findings
) -> list[tuple[str, int]]:
    """Return the entries of a section whose name is taken by an earlier one."""
    what = "metric" if section == "acceptance" else "name among inputs and steps"
    second = []
    for index, item in _items(values, section):
        first = seen.setdefault(item[key], (section, index))
        if first != (section, index):
            hint = f"It is taken by {show_path(first)}."
            found = f"{describe(item[key])} a second time"
            path = (section, index, key)
            findings.problem(path, found=found, expected=f"each {what} once", hint=hint)
            second.append((section, index))
    return second


def _check_completion(criterion: Values, path: DocumentPath, findings: Findings) -> None:
    if criterion["metric"] != "task_completion":
        return
    if (criterion["op"], criterion["value"]) != (">=", 1):
        found = f"task_completion {criterion['op']} {criterion['value']}"
        findings.problem(path, found=found, expected="task_completion >= 1, the only form of it")


def _check_path(text: str, path: DocumentPath, findings: Findings) -> bool:
    """Return whether a path may be followed; note why not."""
    expected = "a path relative to the contract"
    if _ABSOLUTE.match(text):
        hint = "Put the file beside the contract, or reach it with `../`."
        findings.problem(path, found=describe(text), expected=expected, hint=hint)
    elif "\\" in text:
        hint = f"Write {text.replace(chr(92), '/')}."
        findings.problem(path, found=describe(text), expected=f"{expected}, with `/`", hint=hint)
    else:
        return True
    return False


def _check_columns(item: Values, path: DocumentPath, findings: Findings) -> None:
    """Note a column that is given two parts to play."""
    parts: dict[str, str] = {}
    for name in ("target", "weights", "sigma"):
        if name in item:
            _cast(item[name], name, (*path, name), parts, findings)
    for name in ("features", "ignore"):
        for index, column in enumerate(item.get(name) or []):
            if column is not BROKEN:
                _cast(column, name, (*path, name, index), parts, findings)


def _cast(
    column: str, part: str, path: DocumentPath, parts: dict[str, str], findings: Findings
) -> None:
    before = parts.setdefault(column, part)
    if before != part:
        found = (
            f"the column {describe(column).removeprefix('the text ')}, which is {before} as well"
        )
        findings.problem(path, found=found, expected="one part for each column")


def _check_holdout(holdout: Any, findings: Findings) -> None:  # Any: a mapping or a word
    if not isinstance(holdout, dict):
        return
    fraction, verification = holdout.get("fraction", 0.2), holdout.get("verification", 0)
    if fraction + verification >= 1:
        found = f"{fraction:g} final and {verification:g} for verification"
        path = ("holdout", "verification")
        findings.problem(path, found=found, expected="shares that leave rows to learn from")


def _check_publish(values: Values, findings: Findings) -> None:
    publish = values.get("publish") or {}
    single = "id" in publish
    several = [name for name in values.get("deliver") or [] if name is not BROKEN]
    if single and len(several) > 1:
        hint = "Give each its own: publish: {" + ": {id: ...}, ".join(several) + ": {id: ...}}."
        found = f"one identity for {len(several)} packages"
        findings.problem(("publish",), found=found, expected="one for each", hint=hint)
    packages = {(): publish} if single else {(name,): item for name, item in publish.items()}
    for path, package in packages.items():
        _check_package(package, ("publish", *path), findings)


def _check_package(package: Values, path: DocumentPath, findings: Findings) -> None:
    if str(package.get("id", "")).split(".")[0] == "runtime":
        expected = "an ID outside `runtime.`, which is kept for first-party packages"
        findings.problem((*path, "id"), found=package["id"], expected=expected)
    version = package.get("version")
    if version is None:
        return
    # A slow import for a field that few contracts have.
    from packaging.version import InvalidVersion, Version

    try:
        Version(version)
    except InvalidVersion:
        expected = "a version such as 0.1.0"
        findings.problem((*path, "version"), found=describe(version), expected=expected)
