"""Warnings: what a directory may have and a careful author would look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sciharness.contextdata._axes import Axis
from sciharness.contextdata._faults import place, several
from sciharness.contextdata._json import Json
from sciharness.contextdata._variables import Variable

_COLUMNS = {2: ["target", "source"], 3: ["target", "source1", "source2"]}


def warn_of_strays(
    unread: Iterable[str],
    sections: Sequence[Mapping[str, Json]],
) -> list[str]:
    """Return a warning if NPY files were not read that belong to no entry of the manifest."""
    strays = {
        file
        for file in unread
        if file.endswith(".npy") and not any(file[:-4] in section for section in sections)
    }
    if strays:  # a wrong `file` is an error already
        specs = [spec for section in sections for spec in section.values()]
        strays -= {str(spec.get("file")) for spec in specs if isinstance(spec, dict)}
    if not strays:
        return []
    found = several(sorted(strays))
    return [f"unreferenced NPY files: {found}. Remove or register them before a formal run."]


def warn_of_values(axes: Mapping[str, Axis | None]) -> list[str]:
    """Return a warning for each axis whose values no plain dtype holds unchanged."""
    return [
        f"{place('axes', name, 'values')}: no plain dtype holds these values unchanged "
        "(mixed kinds, null, or numbers or text beyond it). They stay JSON scalars."
        for name, axis in axes.items()
        if axis and axis.array is not None and axis.array.dtype.hasobject
    ]


def warn_of_relations(
    variables: Mapping[str, Variable | None], axes: Mapping[str, Axis | None]
) -> list[str]:
    """Return warnings about the order of columns and about variables along edges."""
    relations = {
        name: variable
        for name, variable in variables.items()
        if variable and variable.relation and variable.axes and len(variable.axes) == 2
    }
    if not relations:
        return []
    along = {variable.axes[0]: name for name, variable in relations.items() if variable.axes}
    warnings = [
        f"{place('variables', name)}: ends in the axis of relation {along[variable.axes[-1]]!r} "
        "but has no structure. Point at the relation if its entries belong to the edges."
        for name, variable in variables.items()
        if variable
        and variable.axes
        and name not in relations
        and variable.structure is None
        and variable.axes[-1] in along
    ]
    for variable in relations.values():
        warnings += _warn_of_columns(variable.axes[1] if variable.axes else "", axes)
    return warnings


def _warn_of_columns(name: str, axes: Mapping[str, Axis | None]) -> list[str]:
    axis = axes.get(name)
    if axis is None or axis.array is None or axis.source != "values":
        return []
    labels = axis.array.tolist()
    usual = _COLUMNS.get(len(labels))
    if usual is None or labels == usual or not set(labels) <= set(usual):
        return []
    return [
        f"{place('axes', name)}: columns of a relation are {usual} in this order, not {labels}."
    ]
