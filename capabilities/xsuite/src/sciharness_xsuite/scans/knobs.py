"""Parameters as numbers: their values, and what each does to a lattice or a beam."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
from attrs import evolve

from sciharness.errors import RequestError
from sciharness_xsuite.lattice import Lattice
from sciharness_xsuite.lattice.classes import fields_of
from sciharness_xsuite.lattice.load import build
from sciharness_xsuite.lattice.values import fault_of
from sciharness_xsuite.scans.request import MOST_CELLS, Keep, Parameter, ScanRequest
from sciharness_xsuite.settings import COORDINATES, Coordinate

MOMENTUM = "p0c_ev"
_ENTRY = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)\[([0-9]{1,2})\]")
_FIXED = ("__class__", "parent_name", "order", "num_multipole_kicks", "num_kicks")

# Start values play no part in the optics; the momentum aperture looks for delta itself.
_WITHOUT_EFFECT = MappingProxyType({"twiss": COORDINATES, "momentum_aperture": ("delta",)})

Cell = tuple[float, ...]


def column(parameter: Parameter) -> str:
    """Return the name of a parameter's column."""
    return parameter.name or ".".join([*parameter.elements[:1], parameter.field])


def values(parameter: Parameter, where: str) -> list[float]:
    """Return the values to try.

    Raises:
        RequestError: neither a list nor a whole range is given, or both, or a
            value is not finite.
    """
    ranged = parameter.start is not None or parameter.stop is not None or parameter.count > 0
    if ranged == bool(parameter.values):
        raise RequestError("expected either `values` or start, stop and count", where=where)
    if not ranged:
        found = list(parameter.values)
    elif parameter.start is None or parameter.stop is None or parameter.count < 1:
        raise RequestError("a range needs start, stop and count", where=where)
    elif parameter.spacing == "log":
        if not (parameter.start > 0 and parameter.stop > 0):
            raise RequestError("a logarithmic range needs start and stop above 0", where=where)
        found = _round(np.geomspace(parameter.start, parameter.stop, parameter.count))
    else:
        found = _round(np.linspace(parameter.start, parameter.stop, parameter.count))
    if not np.isfinite(found).all():
        raise RequestError("expected finite numbers", where=where)
    if len(set(found)) != len(found):
        raise RequestError("expected different numbers, found one twice", where=where)
    return found


def _round(found: Any) -> list[float]:  # Any: an array of float64
    """Return values of a range as a person would write them, so that two ranges meet."""
    return [float(f"{one:.12g}") for one in found.tolist()]


def cells(request: ScanRequest) -> tuple[list[str], list[list[float]], list[Cell]]:
    """Return names and values of the parameters, and the cells that are to be computed.

    Raises:
        RequestError: names are equal, linked lists differ in length, there are
            too many cells or none.
    """
    names = [column(one) for one in request.parameters]
    if len(set(names)) != len(names):
        raise RequestError(f"two parameters are called {names[0]!r}", where="parameters")
    every = [values(one, f"parameters[{place}]") for place, one in enumerate(request.parameters)]
    if request.linked:
        if len({len(one) for one in every}) > 1:
            counts = ", ".join(str(len(one)) for one in every)
            raise RequestError(f"linked parameters need equally many values, found {counts}")
        found = list(zip(*every, strict=True))
    else:
        if np.prod([len(one) for one in every], dtype=float) > MOST_CELLS:
            raise RequestError(f"more than {MOST_CELLS:,} cells", where="parameters")
        found = list(product(*every))
    kept = [one for one in found if all(_holds(rule, names, one) for rule in request.keep)]
    if not kept:
        raise RequestError("no cell meets the conditions", where="keep")
    return names, every, kept


def _holds(rule: Keep, names: Sequence[str], cell: Cell) -> bool:
    for one in (rule.first, *([rule.second] if rule.second else [])):
        if one not in names:
            raise RequestError(f"expected one of {', '.join(names)}, found {one!r}", where="keep")
    found = cell[names.index(rule.first)]
    found -= cell[names.index(rule.second)] if rule.second else 0.0
    small = 1e-12 * max(map(abs, cell), default=0.0)  # rounding of a range is no difference
    above = rule.low is None or found >= rule.low - small
    return above and (rule.high is None or found <= rule.high + small)


def check(request: ScanRequest, lattice: Lattice) -> None:
    """Refuse a parameter that the lattice does not have.

    Raises:
        RequestError: no element has the name, or its class has no such field.
    """
    for place, parameter in enumerate(request.parameters):
        where = f"parameters[{place}]"
        if not parameter.elements:
            if parameter.field not in (*COORDINATES, MOMENTUM):
                known = ", ".join((*COORDINATES, MOMENTUM))
                raise RequestError(
                    f"without elements expected one of {known}, found {parameter.field!r}",
                    where=f"{where}.field",
                    hint="Name the elements whose field it is.",
                )
            if parameter.field in _WITHOUT_EFFECT.get(request.measure, ()):
                raise RequestError(
                    f"{parameter.field} changes nothing in {request.measure}",
                    where=f"{where}.field",
                )
            continue
        for name in _named(lattice, parameter, where):
            _field(lattice.plain["elements"][name], name, parameter.field, where)


def with_cell(
    request: ScanRequest, lattice: Lattice, cell: Cell
) -> tuple[Lattice, dict[Coordinate, float]]:
    """Return the lattice with the fields of a cell, and the coordinates it adds.

    Raises:
        RequestError: a value is out of the range of its field.
    """
    plain = {**lattice.plain, "elements": dict(lattice.plain["elements"])}
    offset: dict[Coordinate, float] = {}
    for place, (parameter, value) in enumerate(zip(request.parameters, cell, strict=True)):
        where = f"parameters[{place}]"
        if parameter.elements:
            for name in _named(lattice, parameter, where):
                plain["elements"][name] = _changed(plain["elements"][name], parameter, value, where)
        elif parameter.field == MOMENTUM:
            reference = dict(plain["particle_ref"])
            reference["p0c"] = _combined(reference["p0c"], value, parameter.how)
            if not reference["p0c"] > 0:
                raise RequestError(f"p0c = {reference['p0c']:g} eV", where=where)
            plain["particle_ref"] = reference
        else:
            offset.update({name: value for name in COORDINATES if name == parameter.field})
    made = build(plain, lattice.name)
    return evolve(made, sha256=lattice.sha256, notes=lattice.notes), offset


def _named(lattice: Lattice, parameter: Parameter, where: str) -> list[str]:
    found = [
        name
        for name in lattice.plain["elements"]
        if any(fnmatchcase(name, pattern) for pattern in parameter.elements)
    ]
    for pattern in parameter.elements:
        if not any(fnmatchcase(name, pattern) for name in found):
            some = ", ".join(list(lattice.plain["elements"])[:8])
            raise RequestError(
                f"no element is called {pattern!r}; there are {some} ...",
                where=f"{where}.elements",
            )
    return found


def _field(element: Mapping[str, Any], name: str, field: str, where: str) -> tuple[str, int | None]:
    entry = _ENTRY.fullmatch(field)
    base, place = (entry[1], int(entry[2])) if entry else (field, None)
    known = fields_of(element["__class__"])
    if base not in known or base in _FIXED or isinstance(element.get(base), str):
        raise RequestError(
            f"{name} ({element['__class__']}) has no number {field!r}", where=f"{where}.field"
        )
    return base, place


def _changed(
    element: Mapping[str, Any], parameter: Parameter, value: float, where: str
) -> dict[str, Any]:
    base, place = _field(element, "the element", parameter.field, where)
    changed = dict(element)
    if place is None:
        changed[base] = _combined(float(element.get(base, 0.0)), value, parameter.how)
    else:
        known = list(element.get(base, ()))
        known += [0.0] * (place + 1 - len(known))
        known[place] = _combined(float(known[place]), value, parameter.how)
        changed[base] = known
        if "order" in changed:
            changed["order"] = max(int(changed["order"]), len(known) - 1)
    fault = fault_of(base, changed[base], element["__class__"])
    if fault:
        raise RequestError(fault, where=f"{where}: {parameter.field} = {value:g}")
    return changed


def _combined(before: float, value: float, how: str) -> float:
    return {"set": value, "add": before + value, "scale": before * value}[how]
