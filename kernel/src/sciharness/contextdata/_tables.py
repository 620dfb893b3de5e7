"""Table-shaped directories, all variables on one axis, as columns and back."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from attrs import field, frozen

from sciharness.contextdata._faults import MANIFEST, Faults, printable
from sciharness.contextdata._fields import is_name
from sciharness.contextdata._folder import Array
from sciharness.contextdata._json import Json, decode, parse_manifest
from sciharness.contextdata._values import axis_values
from sciharness.contextdata._write import new_directory, write_manifest
from sciharness.contextdata.load import load_context_data
from sciharness.contextdata.report import inspect_context_data
from sciharness.errors import DataError
from sciharness.problems import Problem

_MOST_VALUES = 1000  # labels of a longer axis go into an NPY file
_LONGEST_NAME = 251  # bytes before ".npy" that file systems allow


class Loss(Exception):
    """Something that would not come back as it was; the fields go into a problem."""

    def __init__(self, expected: str, found: str, hint: str = "") -> None:
        super().__init__(expected, found)
        self.expected = expected
        self.found = found
        self.hint = hint


@frozen
class TableData:
    """A table-shaped directory: its manifest as stored, and its columns.

    The axis is the first column, unless its entries are only positions.
    """

    manifest: bytes
    columns: Mapping[str, Array]


@frozen
class Plan:
    """How a plain table becomes a directory: names, and what is said of them."""

    axis: str = "row"
    index: str | None = None
    rename: Mapping[str, str] = field(factory=dict)
    descriptions: Mapping[str, str] = field(factory=dict)


def refuse(where: str | os.PathLike[str], losses: Mapping[str, Loss]) -> None:
    """Raise :class:`DataError` that names everything in ``losses``, if there is anything."""
    if not losses:
        return
    file = Path(where).name
    problems = [
        Problem("data", file, None, None, printable(name), loss.found, loss.expected, loss.hint)
        for name, loss in losses.items()
    ]
    lines = "".join(f"\n- {problem}" for problem in problems)
    message = f"not converted, since not all of it would come back:{lines}"
    raise DataError(message, where=os.fspath(where), problems=problems)


def same(one: Array, other: Array) -> bool:
    """Whether two arrays hold the same values in dtypes that differ at most in storage.

    Byte order and the width of text are storage.
    """
    if one.dtype.kind != other.dtype.kind or one.shape != other.shape:
        return False
    if one.dtype.kind != "U" and one.dtype.newbyteorder("=") != other.dtype.newbyteorder("="):
        return False
    return np.array_equal(one, other, equal_nan=one.dtype.kind in "fcmM")


def read_table_shaped(path: str | os.PathLike[str]) -> TableData:
    """Return the columns of a directory in which all variables lie on one axis.

    Raises:
        ContextManifestError: the directory is not sound.
        DataError: it holds more than that; every such variable is named.
    """
    loaded = load_context_data(path)
    along: dict[str, list[str]] = loaded["variable_axes"]
    alone = Counter(axes[0] for axes in along.values() if len(axes) == 1).most_common(1)
    axis = alone[0][0] if alone else "of a table"
    losses = {
        name: Loss(f"a variable on axis {axis!r} alone", f"axes {axes}", "NPZ holds it.")
        for name, axes in along.items()
        if axes != [axis]
    }
    refuse(path, losses)
    manifest = Path(path, MANIFEST).read_bytes()
    columns = {name: loaded["data"][name] for name in along}
    if "size" not in parse_carried(manifest, path)["axes"][axis]:
        columns = {axis: loaded["data"][axis], **columns}
    return TableData(manifest, columns)


def write_table(
    out: Path, columns: Mapping[str, Array], plan: Plan, source: Path
) -> dict[str, Json]:
    """Write plain columns as a directory and return its report."""
    named = {plan.rename.get(name, name): array for name, array in columns.items()}
    index = None if plan.index is None else plan.rename.get(plan.index, plan.index)
    refuse(source, _bad_names(columns, named, plan, index))
    axis = plan.axis if index is None else index
    said = plan.descriptions
    length = len(next(iter(named.values())))
    entry: dict[str, Json] = {"size": length}
    variables = {
        name: {"file": f"{name}.npy", "description": said.get(name, ""), "axes": [axis]}
        for name in named
        if name != index
    }
    with new_directory(out) as folder:
        for name in variables:
            np.save(folder / f"{name}.npy", named[name])
        if index is not None:
            entry = _axis_source(folder, index, named[index])
        axes = {axis: entry | {"description": said.get(axis, "")}}
        write_manifest(folder, {"variables": variables, "axes": axes})
    return inspect_context_data(out)


def write_carried(
    out: Path, columns: Mapping[str, Array], manifest: bytes, source: Path
) -> dict[str, Json]:
    """Write columns as the directory that ``manifest``, carried with them, describes."""
    root = parse_carried(manifest, source)
    axes, variables = root.get("axes"), root.get("variables")
    if not isinstance(axes, dict) or len(axes) != 1 or not isinstance(variables, dict):
        raise DataError("its manifest is not that of a table", where=str(source))
    axis, entry = next(iter(axes.items()))
    entry = entry if isinstance(entry, dict) else {}
    due = [*variables] if "size" in entry else [axis, *variables]
    losses = {
        name: Loss("a column, as its manifest says", "none") for name in due if name not in columns
    }
    losses |= {
        name: Loss("only columns of its manifest", "another") for name in columns if name not in due
    }
    refuse(source, losses)
    with new_directory(out) as folder:
        for name in variables:
            np.save(folder / f"{name}.npy", columns[name])
        changed = _changed_source(folder, axis, entry, columns)
        if changed is None:
            (folder / MANIFEST).write_bytes(manifest)
        else:
            write_manifest(folder, {**root, "axes": {axis: changed}})
    return inspect_context_data(out)


def parse_carried(manifest: bytes, where: str | os.PathLike[str]) -> dict[str, Json]:
    """Return the root object of a manifest that came with a table or an archive.

    Raises:
        ContextManifestError: it is no sound JSON object.
    """
    faults = Faults()
    text = decode(manifest, faults)
    root = None if text is None else parse_manifest(text, faults)
    if root is None or faults.problems:
        raise faults.error(os.fspath(where))
    return root


def _bad_names(
    columns: Mapping[str, Array], named: Mapping[str, Array], plan: Plan, index: str | None
) -> dict[str, Loss]:
    hint = "Give it another with rename."
    losses = {}
    for name in columns:
        new = plan.rename.get(name, name)
        if not fits_a_file(new):
            losses[name] = Loss("a name that a variable may have", repr(printable(new)), hint)
    if len(named) < len(columns):
        losses["rename"] = Loss("a name of its own for each column", "one given twice")
    if plan.index is not None and plan.index not in columns:
        losses[plan.index] = Loss("a column to be the axis", "none of that name")
    if index is None and plan.axis in named:
        losses[plan.axis] = Loss("an axis named like no column", "a column", "Give axis a name.")
    unknown = plan.descriptions.keys() - named.keys() - {plan.axis}
    unknown |= plan.rename.keys() - columns.keys()
    losses |= {name: Loss("the name of a column", "none of that name") for name in sorted(unknown)}
    return losses


def fits_a_file(name: str) -> bool:
    """Whether a variable may have this name and a file may be called by it."""
    try:
        return is_name(name) and len(name.encode("utf-8")) <= _LONGEST_NAME
    except UnicodeEncodeError:
        return False


def _axis_source(folder: Path, name: str, labels: Array) -> dict[str, Json]:
    """Return where an axis has its entries: in the manifest if few, else in a file made here."""
    values = labels.tolist()
    finite = labels.dtype.kind != "f" or bool(np.isfinite(labels).all())  # as JSON numbers are
    if 0 < len(values) <= _MOST_VALUES and finite and same(axis_values(values), labels):
        return {"values": values}
    np.save(folder / f"{name}.npy", labels)
    return {"file": f"{name}.npy"}


def _changed_source(
    folder: Path, axis: str, entry: Mapping[str, Json], columns: Mapping[str, Array]
) -> dict[str, Json] | None:
    """Return the axis entry where it is not as carried; write its file if it has one."""
    if "size" in entry:
        length = len(next(iter(columns.values())))
        return None if entry["size"] == length else {**entry, "size": length}
    labels = columns[axis]
    if "file" in entry:
        np.save(folder / f"{axis}.npy", labels)
        return None
    values = entry.get("values")
    if isinstance(values, list) and values and same(axis_values(values), labels):
        return None
    return {**entry, "values": labels.tolist()}
