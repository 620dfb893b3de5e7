"""The report of a check: what is at fault, what to look at, and what the directory holds."""

from __future__ import annotations

import os

from sciharness.contextdata._axes import Axis
from sciharness.contextdata._faults import Faults
from sciharness.contextdata._json import Json
from sciharness.contextdata._pause import collector_paused
from sciharness.contextdata._survey import Survey, check_endpoints, open_folder, survey
from sciharness.contextdata._variables import RELATION, Variable


@collector_paused()
def inspect_context_data(path: str | os.PathLike[str]) -> dict[str, Json]:
    """Return a report about the directory at ``path``; never raises for what is in it.

    ``valid`` (bool), ``errors`` and ``warnings`` (lists of text), ``path``,
    ``num_nodes`` (int or None), ``variables`` ({name: file, shape, dtype,
    axes, description, for some kind and structure}) and ``axes`` ({name: size,
    dtype, storage, description}). All independent faults are in it. A
    directory with faults lists the variables and axes that could be read.

    Only headers and file lengths are read, and the endpoints of relations.
    """
    faults = Faults()
    found = Survey({}, {}, None, {}, [])
    folder = open_folder(path, faults)
    if folder is not None:
        with folder:
            found = survey(folder, faults)
            check_endpoints(folder, found, faults)
    return {
        "valid": not faults.problems,
        "path": os.path.abspath(path) if folder is None else folder.path,
        "errors": faults.texts(),
        "warnings": found.warnings,
        "num_nodes": found.num_nodes,
        "variables": {
            name: _variable_facts(name, variable)
            for name, variable in found.variables.items()
            if variable and variable.header and variable.axes is not None
        },
        "axes": {
            name: _axis_facts(axis)
            for name, axis in found.axes.items()
            if axis and axis.length is not None
        },
    }


def _variable_facts(name: str, variable: Variable) -> dict[str, Json]:
    header = variable.header
    if header is None:
        return {}
    facts = {
        "file": name + ".npy",
        "shape": [*header.shape],
        "dtype": header.dtype_text,
        "axes": [*(variable.axes or ())],
        "description": variable.description,
    }
    if isinstance(variable.structure, str):
        facts["structure"] = variable.structure
    if variable.relation:
        facts["kind"] = RELATION
    return facts


def _axis_facts(axis: Axis) -> dict[str, Json]:
    dtype = "int64"
    if axis.array is not None:
        dtype = str(axis.array.dtype)
    elif axis.header is not None:
        dtype = axis.header.dtype_text
    return {
        "size": axis.length,
        "dtype": dtype,
        "storage": axis.source,
        "description": axis.description,
    }
