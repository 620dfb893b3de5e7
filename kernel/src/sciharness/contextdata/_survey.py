"""One look at a whole directory: everything that can be told without the arrays' data."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import frozen

from sciharness.contextdata._advice import warn_of_relations, warn_of_strays, warn_of_values
from sciharness.contextdata._axes import Axis, read_axis
from sciharness.contextdata._endpoints import note_stray, stray_endpoint_in
from sciharness.contextdata._faults import Faults, place, printable
from sciharness.contextdata._fields import check_root, is_name, read_section
from sciharness.contextdata._folder import Folder, Wanted
from sciharness.contextdata._json import read_manifest
from sciharness.contextdata._npy import Header, NpyFault
from sciharness.contextdata._relations import check_relations, num_nodes_of
from sciharness.contextdata._shapes import Shapes
from sciharness.contextdata._variables import Variable, read_variable


@frozen
class Survey:
    """What a directory holds.

    Variables and axes of which nothing can be told are ``None``. ``relations``
    are those whose endpoints are still to be looked at.
    """

    variables: dict[str, Variable | None]
    axes: dict[str, Axis | None]
    num_nodes: int | None
    relations: dict[str, Header]
    warnings: list[str]


def open_folder(
    path: str | os.PathLike[str], faults: Faults, wanted: Wanted = "headers"
) -> Folder | None:
    """Return the opened directory, or note why there is none."""
    try:
        return Folder(path, wanted)
    except FileNotFoundError:
        found = "none"
    except NotADirectoryError:
        found = "a file"
    except (OSError, ValueError) as error:
        found = getattr(error, "strerror", None) or str(error)
    faults.file(os.fspath(path), "", "a readable directory", found)
    return None


def survey(folder: Folder, faults: Faults) -> Survey:
    """Read manifest and headers; note everything at fault but endpoints of relations."""
    root = read_manifest(folder.descriptor, faults)
    if root is None:
        return Survey({}, {}, None, {}, [])
    check_root(root, faults)
    axis_specs = read_section(root, "axes", faults)
    variable_specs = read_section(root, "variables", faults)
    axes = {
        name: read_axis(name, spec, folder, faults) for name, spec in (axis_specs or {}).items()
    }
    variables = {
        name: read_variable(name, spec, folder, faults)
        for name, spec in (variable_specs or {}).items()
    }
    warnings = warn_of_values(axes)
    wrong: set[str] = set()
    relations: dict[str, Header] = {}
    if axis_specs is not None and variable_specs is not None:
        wrong = _check_axes(variables, axes, faults)
        warnings += warn_of_relations(variables, axes)
        warnings += warn_of_strays(folder.unread, (axis_specs, variable_specs))
    if variable_specs is not None:
        relations = check_relations(root, variables, wrong, faults)
    return Survey(variables, axes, num_nodes_of(root), relations, warnings)


def _check_axes(
    variables: dict[str, Variable | None], axes: dict[str, Axis | None], faults: Faults
) -> set[str]:
    for name in sorted(filter(is_name, variables.keys() & axes.keys())):
        found = f"axis {printable(name)!r}"
        faults.manifest(place("variables", name), "a name that no axis has", found)
    shapes = Shapes(variables, axes, faults)
    shapes.check()
    return shapes.wrong


def check_endpoints(folder: Folder, found: Survey, faults: Faults) -> None:
    """Read the endpoints of all relations once, in pieces, and note what is no node."""
    for name, header in found.relations.items():
        file = f"{name}.npy"
        try:
            with folder.reopened(file, header) as stream:
                stray = stray_endpoint_in(stream, header, found.num_nodes)
        except NpyFault as fault:
            faults.file(file, place("variables", name), fault.expected, fault.found, fault.hint)
        else:
            note_stray(name, header, stray, found.num_nodes, faults)


def require_sound(
    path: str | os.PathLike[str], where: str | os.PathLike[str] | None = None
) -> tuple[Path, Survey]:
    """Return the real path of a directory and what it holds; errors call it ``where``.

    Raises:
        ContextManifestError: something in it is at fault.
    """
    faults = Faults()
    folder = open_folder(path, faults)
    if folder is None:
        raise faults.error(os.fspath(where or path))
    with folder:
        found = survey(folder, faults)
        check_endpoints(folder, found, faults)
    if faults.problems:
        raise faults.error(os.fspath(where or folder.path))
    return Path(folder.path), found
