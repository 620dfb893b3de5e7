"""Relations of a network: node count, shapes, and the variables that point at them."""

from __future__ import annotations

from collections.abc import Mapping

from sciharness.contextdata._faults import Faults, place, printable, show
from sciharness.contextdata._json import Flaw, Json
from sciharness.contextdata._npy import Header
from sciharness.contextdata._variables import RELATION, Variable

Variables = Mapping[str, Variable | None]


def num_nodes_of(root: Mapping[str, Json]) -> int | None:
    """Return ``num_nodes`` where it is a positive integer."""
    count = root.get("num_nodes")
    return count if type(count) is int and count > 0 else None


def check_relations(
    root: Mapping[str, Json],
    variables: Variables,
    wrong: set[str],
    faults: Faults,
) -> dict[str, Header]:
    """Note what is at fault with relations; return those whose endpoints can be looked at.

    ``wrong`` names the variables whose shape is at fault already.
    """
    special = {
        name: variable
        for name, variable in variables.items()
        if variable is None or variable.relation is not False or variable.structure is not None
    }
    _check_num_nodes(root, special, faults)
    sound: dict[str, Header] = {}
    for name, variable in special.items():
        if variable and variable.relation and variable.header:
            shaped = name in wrong or _check_shape(name, variable.header, faults)
            if _check_dtype(name, variable.header, faults) and shaped:
                sound[name] = variable.header
    for name, variable in special.items():
        if variable and isinstance(variable.structure, str):
            _check_structure(name, variable, variable.structure, variables, wrong, faults)
    return sound


def _check_num_nodes(root: Mapping[str, Json], variables: Variables, faults: Faults) -> None:
    kinds = {variable.relation if variable else None for variable in variables.values()}
    if "num_nodes" not in root:
        if True in kinds:
            faults.manifest("num_nodes", "the number of nodes, since there is a relation", "none")
        return
    count = root["num_nodes"]
    if isinstance(count, Flaw):
        return
    if kinds <= {False}:
        hint = f"Only a variable of kind {RELATION!r} needs it."
        faults.manifest("num_nodes", "no such field without a relation", show(count), hint)
    elif num_nodes_of(root) is None:
        faults.manifest("num_nodes", "a positive integer", show(count))


def _is_relation_shape(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and shape[1] in (2, 3)


def _check_shape(name: str, header: Header, faults: Faults) -> bool:
    if _is_relation_shape(header.shape):
        return True
    path = place("variables", name)
    faults.file(f"{name}.npy", path, "shape (E, 2) or (H, 3) of a relation", str(header.shape))
    return False


def _check_dtype(name: str, header: Header, faults: Faults) -> bool:
    if header.dtype.kind in "iu":
        return True
    path = place("variables", name)
    faults.file(f"{name}.npy", path, "endpoints of an integer dtype", header.dtype_text)
    return False


def _check_structure(
    name: str,
    variable: Variable,
    structure: str,
    variables: Variables,
    wrong: set[str],
    faults: Faults,
) -> None:
    path = place("variables", name, "structure")
    target = variables.get(structure)
    if structure == name:
        faults.manifest(path, "another variable", "the variable itself")
    elif structure not in variables:
        faults.manifest(path, "a registered variable", repr(printable(structure)))
    elif target and target.relation is False:
        hint = f"Mark it with kind {RELATION!r} if it is one."
        found = f"{printable(structure)!r}, which is no relation"
        faults.manifest(path, "a relation", found, hint)
    elif target and variable.header and not {name, structure} & wrong:
        _check_length(name, variable.header.shape, structure, target, faults)


def _check_length(
    name: str, shape: tuple[int, ...], structure: str, target: Variable, faults: Faults
) -> None:
    if target.header is None or not _is_relation_shape(target.header.shape):
        return
    length = target.header.shape[0]
    if not shape or shape[-1] != length:
        expected = f"last dimension {length}, the length of relation {printable(structure)!r}"
        faults.file(f"{name}.npy", place("variables", name), expected, f"shape {shape}")
