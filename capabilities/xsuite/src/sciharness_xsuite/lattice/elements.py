"""Elements of a file: known class, known fields, values in range, old layouts mapped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from attrs import define, field

from sciharness.errors import DataError
from sciharness.problems import Problem
from sciharness_xsuite.lattice.classes import ALLOWED, fields_of
from sciharness_xsuite.lattice.values import fault_of

MOST_ELEMENTS = 200_000
_SHOWN = 20

# Fields that hold no physics.
_IGNORED = ("extra", "prototype", "name_associated_aperture")
_POLYGON_DERIVED = (
    *(
        f"{inner}{end}_{axis}"
        for inner in ("", "inner_")
        for end in ("min", "max")
        for axis in "xy"
    ),
    *("x_normal", "y_normal", "resc_fac"),
)
_SLICES = "slices_other_beam_"
_RANDOM = ("flag_beamstrahlung", "flag_bhabha")

Element = dict[str, Any]  # Any: JSON values


@define
class Checked:
    """Elements as they are handed to xtrack, and what was dropped or mapped on the way."""

    elements: dict[str, Element] = field(factory=dict)
    dropped: Counter[str] = field(factory=Counter)
    mapped: Counter[str] = field(factory=Counter)
    problems: list[Problem] = field(factory=list)

    def notes(self) -> tuple[str, ...]:
        """Return one sentence for each kind of change."""
        return (
            *(f"mapped {what} ({count} elements)" for what, count in sorted(self.mapped.items())),
            *(f"dropped {what} ({count} elements)" for what, count in sorted(self.dropped.items())),
        )


def checked_elements(elements: Mapping[str, Any], name: str) -> Checked:  # Any: JSON values
    """Return every element with its fields checked.

    Raises:
        DataError: with a problem for each element that cannot be kept.
    """
    if len(elements) > MOST_ELEMENTS:
        raise DataError(
            f"holds {len(elements):,} elements, at most {MOST_ELEMENTS:,} are read", where=name
        )
    made = Checked()
    known: dict[str, frozenset[str]] = {}
    for key, value in elements.items():
        element = _one(made, key, value, known)
        if element is not None:
            made.elements[key] = element
    _check_parents(made)
    if made.problems:
        raise refusal(name, made.problems)
    return made


def refusal(name: str, problems: list[Problem]) -> DataError:
    """Return the error that names all problems, the first of them in its message."""
    more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
    return DataError(f"{problems[0]}{more}", where=name, problems=problems[:_SHOWN])


def _one(
    made: Checked,
    key: str,
    value: Any,  # Any: a JSON value
    known: dict[str, frozenset[str]],
) -> Element | None:
    path = f"elements.{key[:100]}"
    if not isinstance(value, dict) or not isinstance(value.get("__class__"), str):
        made.problems.append(_problem(path, type(value).__name__, "an object with __class__"))
        return None
    element = {name: one for name, one in value.items() if name not in _IGNORED and one is not None}
    if value.get("extra"):
        made.dropped["the notes in field extra"] += 1
    _map_old(made, element)
    kind = element["__class__"]
    if kind not in ALLOWED:
        made.problems.append(_unknown(path, kind))
        return None
    if kind not in known:
        known[kind] = fields_of(kind)
    faults = _faults(element, known[kind])
    made.problems += [_problem(f"{path}.{name}", said, "") for name, said in faults]
    if faults:
        return None
    _map_values(made, element)
    return element


def _unknown(path: str, kind: str) -> Problem:
    if kind in ("Line", "Environment", "Multiline"):
        return _problem(path, f"a nested {kind}", "an element: a file holds one line")
    return _problem(path, f"class {kind[:60]!r}", "an element that can be tracked from its data")


def _faults(element: Element, known: frozenset[str]) -> list[tuple[str, str]]:
    found = []
    for name, value in element.items():
        if name == "__class__":
            continue
        if name not in known:
            found.append((name[:100], f"{element['__class__']} has no such field"))
        elif fault := fault_of(name, value, element["__class__"]):
            found.append((name, fault))
    if element.get("radiation_flag", 0) not in (0, 10):  # 10: a slice does as its parent
        found.append(("radiation_flag", "synchrotron radiation is not tracked, set it to 0"))
    found += [(name, "random effects are not tracked") for name in _RANDOM if element.get(name)]
    return found or _length_faults(element)


def _length_faults(element: Element) -> list[tuple[str, str]]:
    """Lists that the kernel reads side by side have to be equally long: it does not look."""
    if element["__class__"] == "LimitPolygon":
        sizes = [_size(element, name) for name in ("x_vertices", "y_vertices")]
        if sizes[0] != sizes[1] or sizes[0] < 3:
            return [("y_vertices", f"expected as many as x_vertices and at least 3, got {sizes}")]
    if element["__class__"] == "BeamBeamBiGaussian3D":
        count = element.get("num_slices_other_beam", 1)
        lists = (one for one in fields_of(element["__class__"]) if one.startswith(_SLICES))
        return [
            (name, f"expected one number for each of {count} slices")
            for name in sorted(lists)
            if _size(element, name) != count
        ]
    return []


def _size(element: Element, name: str) -> int:
    value = element.get(name)
    return len(value) if isinstance(value, list) else 0


def _map_old(made: Checked, element: Element) -> None:
    """Bring layouts of earlier versions to that of this one."""
    if element["__class__"] == "CombinedFunctionMagnet":
        element["__class__"] = "Bend"
        made.mapped["CombinedFunctionMagnet to Bend"] += 1
    if element["__class__"] == "LimitPolygon":
        for name in _POLYGON_DERIVED:
            element.pop(name, None)  # from the vertices
    if element["__class__"] in ("Bend", "RBend", "Magnet") and "h" in element:
        _map_curvature(made, element)
    if element.get("integrator") == "yoshida4":
        element["integrator"] = "yoshida-6"  # what xtrack has always done for that name
        made.mapped["integrator yoshida4 to yoshida-6, the same scheme"] += 1


def _map_curvature(made: Checked, element: Element) -> None:
    curvature, length = element.pop("h"), element.get("length", 0.0)
    numbers = (int, float)
    if not isinstance(curvature, numbers) or not isinstance(length, numbers):
        element["angle"] = curvature  # its fault is said as any other
    elif "angle" not in element:
        element["angle"] = curvature * length
        made.mapped["curvature h to angle"] += 1


def _map_values(made: Checked, element: Element) -> None:
    if element["__class__"] == "XYShift" and not {"dx", "dy"} <= element.keys():
        # The writer leaves zeros out, and xtrack's reader would make them NaN.
        element.update({"dx": 0.0, "dy": 0.0, **element})
        made.mapped["a shift that XYShift leaves out to 0"] += 1
    if element["__class__"] == "RBend" and "length_straight" in element:
        element.pop("length", None)  # derived from length_straight and angle
    if "hyl" in element and not element["hyl"]:
        element.pop("hyl")
    if "num_multipole_kicks" in element:
        element["num_multipole_kicks"] = int(element["num_multipole_kicks"])


def _check_parents(made: Checked) -> None:
    """Slices and replicas refer to elements of the file, replicas without a circle."""
    for key, element in made.elements.items():
        seen, at = {key}, element
        while "parent_name" in at:
            parent = at["parent_name"]
            if parent in seen or parent not in made.elements:
                said = "a circle" if parent in seen else "no such element"
                made.problems.append(
                    _problem(f"elements.{key[:100]}.parent_name", f"{parent[:60]!r}: {said}", "")
                )
                break
            wanted = _parent_class(at["__class__"])
            at = made.elements[parent]
            if wanted not in ("", at["__class__"]):
                place = f"elements.{key[:100]}.parent_name"
                made.problems.append(_problem(place, f"a {at['__class__']}", f"a {wanted}"))
                break
            seen.add(parent)


def _parent_class(kind: str) -> str:
    """The class whose data a slice reads; the kernel does not look whether it is that."""
    if "Slice" not in kind:
        return ""
    parent = kind.partition("Slice")[2].removesuffix("Entry").removesuffix("Exit")
    return parent or "Drift"


def _problem(path: str, found: str, expected: str) -> Problem:
    return Problem("data", path=path, found=found, expected=expected)


__all__ = ["MOST_ELEMENTS", "Checked", "checked_elements", "refusal"]
