"""Which variables and axes of a context.data directory are columns, for the contract's words."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from sciharness.contract.findings import suggest
from sciharness.contract.records import ContractInput, Holdout
from sciharness.tables.examine import Examined
from sciharness.tables.findings import Findings
from sciharness.tables.grid import CONTEXT_DATA, Grid
from sciharness.tables.names import SAMPLE_ID, column_name
from sciharness.tables.source import Source

MOST_ROWS = 1 << 28
_NUMBERS = "biuf"
_TEXTS = "OSUmM"

Facts = Mapping[str, Any]  # Any: JSON values of the report


@frozen
class LaidOut:
    """A grid, and the contract's words for its columns."""

    grid: Grid
    spec: ContractInput
    group: str | None


def laid_out(
    source: Source, spec: ContractInput, holdout: Holdout, findings: Findings
) -> tuple[Source, ContractInput, Holdout]:
    """Return a directory with its grid, and the contract's words for it; a file as it is.

    Names that are not there are noted and left out of the contract's words.

    Raises:
        DataError: there is no target whose cells could be rows.
    """
    if source.format != CONTEXT_DATA:
        return source, spec, holdout
    found = lay_out(source.path, spec, holdout.group, findings)
    if found is None:
        findings.raise_any()
    assert found is not None  # without a layout there is at least one finding
    return evolve(source, grid=found.grid), found.spec, evolve(holdout, group=found.group)


def facts_of(source: Source, examined: Examined) -> dict[str, Any]:  # Any: JSON values
    """Return the facts of an examined table, of a directory also the target's axes."""
    facts = examined.facts()
    return facts if source.grid is None else {**facts, "axes": [*source.grid.axes]}


def lay_out(
    path: Path, spec: ContractInput, group: str | None, findings: Findings
) -> LaidOut | None:
    """Return how the directory at ``path`` is read as a table; problems go to ``findings``.

    Target, weights and sigma name variables, features, group and ignore also
    axes of the target. All may lack axes of the target but have no others.
    Without features these are all such variables but relations and scalars,
    and all axes of the target with numbers of their own.

    ``None`` when there is no target whose cells could be rows.
    """
    report = sound_report(path, findings)
    if report is None:
        return None
    names = _Names({**report["axes"], **report["variables"]}, report["variables"], findings)
    grid = _grid(names, spec)
    return None if grid is None else _columns(names, grid, spec, group)


def sound_report(path: Path, findings: Findings) -> Facts | None:
    """Return what a check of a directory tells; note all faults and return ``None`` if any."""
    from sciharness.agent_context import AgentContext
    from sciharness.contextdata import ContextManifestError, inspect_context_data  # loads numpy

    report = inspect_context_data(path)
    if report["valid"]:
        return report
    try:
        AgentContext.from_directory(path, mmap=True)
    except ContextManifestError as error:
        findings.adopt(error.problems)
    if not findings.count:
        findings.add("file", "a directory that changes", "one that stays as it is")
    return None


@frozen
class _Names:
    """The axes and variables of a sound directory, looked up by the contract's names."""

    known: Facts
    variables: Facts
    findings: Findings

    def find(self, part: str, name: str | None, *, axes: bool) -> str | None:
        """Return the variable (or axis) of this name; note it if there is none."""
        if name is None:
            return None
        fitting = self.known if axes else self.variables
        for found in fitting:
            if column_name(found) == column_name(name):
                return found
        shown = f"the axis {name!r}" if name in self.known else repr(name)
        what = "a variable or an axis" if axes else "a variable"
        hint = suggest(name, fitting, "It has")
        self.findings.add("unknown", shown, f"{what} of {self.findings.file}", hint, field=part)
        return None

    def axes_of(self, name: str) -> tuple[str, ...]:
        """Return the axes along which a variable lies; an axis lies along itself."""
        return tuple(self.variables[name]["axes"]) if name in self.variables else (name,)

    def fits(self, name: str, grid: Grid) -> bool:
        """Whether a variable or axis has one value for each cell of the target."""
        axes = self.axes_of(name)
        return set(axes) <= set(grid.axes) and len(set(axes)) == len(axes)

    def column(self, part: str, name: str | None, grid: Grid, *, axes: bool) -> str | None:
        """Return the variable (or axis) if it can be a column; note it if it cannot."""
        found = self.find(part, name, axes=axes)
        if found is None:
            return None
        if not self.fits(found, grid):
            along = f"{found!r}, which lies along {', '.join(self.axes_of(found))}"
            expected = f"only axes of the target: {', '.join(grid.axes)}"
            self.findings.add("part", along, expected, field=part)
            return None
        if self.kind(found) not in _NUMBERS + _TEXTS:
            shown = f"{found!r} of dtype {self.known[found]['dtype']}"
            self.findings.add("part", shown, "numbers of at most 64 bits, or text", field=part)
            return None
        return found

    def kind(self, name: str) -> str:
        """Return the kind of an array's dtype, a blank for what no column can hold."""
        import numpy as np

        try:
            dtype = np.dtype(self.known[name]["dtype"])
        except TypeError:  # a record
            return " "
        return " " if dtype.kind == "f" and dtype.itemsize > 8 else dtype.kind


def _grid(names: _Names, spec: ContractInput) -> Grid | None:
    """Return the cells of the target, without columns yet."""
    name, reason = spec.target, "named in the contract"
    if name is None:
        name, reason = _last_variable(names), "the last variable of the manifest"
    found = names.find("target", name, axes=False)
    if found is None:
        return None
    facts = names.variables[found]
    axes, shape = tuple(facts["axes"]), tuple(facts["shape"])
    faults = {
        "a relation": "kind" in facts,
        "a scalar": not axes,
        f"along {', '.join(axes)}": len(set(axes)) < len(axes),
        f"of {prod(shape)} cells": prod(shape) > MOST_ROWS,
        f"of dtype {facts['dtype']}": names.kind(found) not in _NUMBERS + _TEXTS,
    }
    for fault in (text for text, holds in faults.items() if holds):
        expected = f"numbers or text along axes, each once, at most {MOST_ROWS} cells"
        names.findings.add("part", f"{found!r}, {fault}", expected, field="target")
    if any(faults.values()):
        return None
    is_table = len(axes) == 1 and all(
        names.axes_of(variable) == axes for variable in names.variables
    )
    return Grid(found, axes, shape, {}, 0 if is_table else prod(shape[1:]), reason)


def _last_variable(names: _Names) -> str:
    plain = [name for name, facts in names.variables.items() if "kind" not in facts]
    return next((name for name in reversed(plain) if name != SAMPLE_ID), next(iter(names.known)))


def _columns(names: _Names, grid: Grid, spec: ContractInput, group: str | None) -> LaidOut:
    weights = names.column("weights", spec.weights, grid, axes=False)
    sigma = names.column("sigma", spec.sigma, grid, axes=False)
    grouped = names.column("holdout.group", group, grid, axes=True)
    ignore = [names.find("ignore", name, axes=True) for name in spec.ignore]
    units = {names.find("units", name, axes=True): unit for name, unit in spec.units.items()}
    if spec.features is None:
        taken = {grid.target, SAMPLE_ID, weights, sigma, grouped, *ignore}
        asked = [name for name in _candidates(names, grid) if name not in taken]
    else:
        asked = [*spec.features]
    found = [names.column("features", name, grid, axes=True) for name in asked]
    features = [name for name in found if name is not None]
    sample_id = SAMPLE_ID in names.known and names.axes_of(SAMPLE_ID) == grid.axes
    listed = [SAMPLE_ID if sample_id else None, *features, weights, sigma, grouped, grid.target]
    columns = {name: names.axes_of(name) for name in listed if name is not None}
    return LaidOut(
        evolve(grid, columns=columns),
        evolve(
            spec,
            target=grid.target,
            features=tuple(features),
            weights=weights,
            sigma=sigma,
            ignore=tuple(name for name in ignore if name in columns),
            units={name: unit for name, unit in units.items() if name in columns},
        ),
        grouped,
    )


def _candidates(names: _Names, grid: Grid) -> list[str]:
    """Return what is a feature where the contract names none."""
    axes = [
        name
        for name in grid.axes
        if names.known[name]["storage"] != "size" and names.kind(name) in _NUMBERS
    ]
    variables = [
        name
        for name, facts in names.variables.items()
        if facts["axes"] and "kind" not in facts and names.fits(name, grid)
    ]
    return [*axes, *variables]
