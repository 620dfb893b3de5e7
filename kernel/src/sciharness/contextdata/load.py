"""Loading of a directory into arrays and their metadata."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from sciharness.contextdata._axes import Axis
from sciharness.contextdata._endpoints import note_stray, stray_endpoint
from sciharness.contextdata._faults import ContextManifestError, Faults, place
from sciharness.contextdata._folder import Array, Folder
from sciharness.contextdata._npy import Header, NpyFault
from sciharness.contextdata._pause import collector_paused
from sciharness.contextdata._survey import Survey, check_endpoints, open_folder, survey


@collector_paused()
def load_context_data(
    path: str | os.PathLike[str], mmap: bool = False
) -> dict[str, Any]:  # Any: arrays, texts, integers
    """Return arrays and metadata of the directory at ``path``.

    ``data`` {name: ndarray} holds all axes and variables, ``variable_axes``
    {variable: [axis]}, ``relation_names`` [text], ``num_nodes`` int or None,
    ``descriptions`` {name: text} of axes and variables, ``structures``
    {variable: relation}, ``warnings`` [text].

    The arrays are private writable copies with dtype, byte order and memory
    order as stored. With ``mmap`` they are private writable maps
    (:class:`numpy.memmap`): nothing is read until it is used, writes stay in
    memory, and a file must not be changed or cut while its map is in use.
    Empty arrays, and those beyond the number of maps that the process can
    have, are read.

    Raises:
        ContextManifestError: the directory is not sound, or larger than memory.
    """
    faults = Faults()
    folder = open_folder(path, faults, "maps" if mmap else "copies")
    if folder is None:
        raise faults.error(os.fspath(path))
    with folder:
        found = survey(folder, faults)
        if faults.problems:
            check_endpoints(folder, found, faults)
            raise faults.error(folder.path)
        return _Loader(folder, found).load()


class _Loader:
    """Reads the arrays of a directory in which nothing was at fault so far."""

    def __init__(self, folder: Folder, found: Survey) -> None:
        self._folder = folder
        self._found = found

    def load(self) -> dict[str, Any]:
        relations = self._relations()
        data = {name: self._axis(name, axis) for name, axis in self._found.axes.items() if axis}
        variable_axes: dict[str, list[str]] = {}
        structures: dict[str, str] = {}
        descriptions = {name: axis.description for name, axis in self._found.axes.items() if axis}
        for name, variable in self._found.variables.items():
            if variable is None or variable.header is None or variable.axes is None:
                continue
            array = relations.get(name, variable.array)
            data[name] = self._array("variables", name, variable.header) if array is None else array
            variable_axes[name] = [*variable.axes]
            descriptions[name] = variable.description
            if isinstance(variable.structure, str):
                structures[name] = variable.structure
        return {
            "data": data,
            "variable_axes": variable_axes,
            "relation_names": list(relations),
            "num_nodes": self._found.num_nodes,
            "descriptions": descriptions,
            "structures": structures,
            "warnings": self._found.warnings,
        }

    def _relations(self) -> dict[str, Array]:
        """Return the relations, with endpoints checked where they now lie in memory."""
        faults = Faults()
        relations = {}
        for name, header in self._found.relations.items():
            variable = self._found.variables[name]
            array = variable.array if variable else None
            if array is None:
                array = self._array("variables", name, header)
            relations[name] = array
            stray = stray_endpoint(relations[name], self._found.num_nodes)
            note_stray(name, header, stray, self._found.num_nodes, faults)
        if faults.problems:
            raise faults.error(self._folder.path)
        return relations

    def _axis(self, name: str, axis: Axis) -> Array:
        if axis.array is not None:
            return axis.array
        if axis.header is not None:
            return self._array("axes", name, axis.header)
        try:
            return np.arange(axis.length or 0, dtype=np.int64)
        except MemoryError:
            fault = NpyFault("an array that fits into memory", f"{axis.length} entries")
            raise self._error("axes", name, fault) from None

    def _array(self, section: str, name: str, header: Header) -> Array:
        try:
            return self._folder.read(f"{name}.npy", header)
        except NpyFault as error:
            fault = error
        except MemoryError:
            hint = "Load it with mmap=True."
            fault = NpyFault("an array that fits into memory", f"{header.nbytes} bytes", hint)
        raise self._error(section, name, fault)

    def _error(self, section: str, name: str, fault: NpyFault) -> ContextManifestError:
        faults = Faults()
        path = place(section, name)
        faults.file(f"{name}.npy", path, fault.expected, fault.found, fault.hint)
        return faults.error(self._folder.path)
