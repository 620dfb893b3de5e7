"""Reading a lattice: data only, by our own rules, then handed to xtrack as plain numbers."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from sciharness.errors import DataError
from sciharness_xsuite.lattice.classes import APERTURES, RF
from sciharness_xsuite.lattice.elements import Element, checked_elements
from sciharness_xsuite.lattice.formats import refuse_other_format
from sciharness_xsuite.lattice.layout import layout_of
from sciharness_xsuite.lattice.particle import Settings, reference_of, settings_of
from sciharness_xsuite.lattice.record import Lattice, Reference
from sciharness_xsuite.lattice.source import json_values, read_source
from sciharness_xsuite.lattice.work import check_places


def read_lattice(path: Path) -> Lattice:
    """Return the lattice in a file of ``Line.to_dict`` JSON (also packed with gzip).

    Nothing in the file is evaluated: expressions are dropped, since element
    values are numbers already.

    Raises:
        DataError: the file is another format, or something in it cannot be kept.
    """
    source = read_source(path)
    refuse_other_format(source)
    layout = layout_of(json_values(source), source.name)
    checked = checked_elements(layout.elements, source.name)
    check_places(checked.elements, layout.element_names, source.name)
    reference = reference_of(layout.particle, source.name)
    settings, set_notes = settings_of(layout.config, source.name)
    used = _used(checked.elements, layout.element_names)
    plain = {
        "elements": used,
        "element_names": list(layout.element_names),
        "config": settings,
        "particle_ref": {
            "mass0": reference.mass0_ev,
            "q0": reference.q0,
            "p0c": reference.p0c_ev,
        },
    }
    made = build(plain, source.name)
    return evolve(
        made,
        sha256=source.sha256,
        xtrack_version=layout.xtrack_version,
        notes=(*checked.notes(), *set_notes, *layout.notes),
    )


def build(plain: Mapping[str, Any], name: str) -> Lattice:  # Any: checked JSON values
    """Return the lattice of checked values, for example of a ring with one field changed.

    Raises:
        DataError: xtrack refuses an element.
    """
    line = _line(plain, name)
    classes = Counter(plain["elements"][one]["__class__"] for one in plain["element_names"])
    particle = plain["particle_ref"]
    return Lattice(
        line=line,
        plain=plain,
        name=name,
        sha256="",
        reference=Reference(particle["mass0"], particle["q0"], particle["p0c"]),
        circumference_m=float(line.get_length()),
        element_names=tuple(plain["element_names"]),
        classes=dict(sorted(classes.items())),
        has_aperture=any(kind in classes for kind in APERTURES),
        has_rf=_has_rf(plain),
        global_limit_m=plain["config"].get("XTRACK_GLOBAL_XY_LIMIT"),
        xtrack_version="",
        notes=(),
    )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep xtrack's progress bars and deprecation warnings off the terminal."""
    with (
        warnings.catch_warnings(),
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        warnings.simplefilter("ignore")
        yield


def _used(elements: Mapping[str, Element], names: Any) -> dict[str, Element]:  # Any: texts
    """Leave out definitions that no place of the line uses, but for parents of slices."""
    wanted = list(dict.fromkeys(names))
    kept: dict[str, Element] = {}
    while wanted:
        name = wanted.pop()
        if name not in kept:
            kept[name] = elements[name]
            wanted += [elements[name]["parent_name"]] if "parent_name" in elements[name] else []
    return {name: elements[name] for name in elements if name in kept}


def _line(plain: Mapping[str, Any], name: str) -> Any:  # Any: xtrack has no types
    import xtrack  # seconds to import

    values = {
        **plain,
        "elements": {key: dict(one) for key, one in plain["elements"].items()},
        "element_names": list(plain["element_names"]),
        "config": dict(plain["config"]),
    }
    with quiet():
        try:
            return xtrack.Line.from_dict(values, verbose=False, with_progress=False)
        except Exception as error:
            _try_elements(plain["elements"], name)
            raise DataError(f"xtrack cannot build the line: {error}", where=name) from error


def _has_rf(plain: Mapping[str, Settings]) -> bool:
    """Whether any element changes the energy."""
    elements = plain["elements"]
    names = {elements[one].get("parent_name", one) for one in plain["element_names"]}
    return any(
        elements[one]["__class__"] in RF
        and (elements[one].get("voltage") or elements[one].get("crab_voltage"))
        for one in names
    )


def _try_elements(elements: Mapping[str, Element], name: str) -> None:
    """Name the element that xtrack refuses, if there is one."""
    import xfields
    import xtrack

    for key, values in elements.items():
        kind = values["__class__"]
        maker = getattr(xtrack, kind, None) or getattr(xfields, kind)
        plain = {field: value for field, value in values.items() if field != "__class__"}
        with quiet():
            try:
                maker.from_dict(plain)
            except Exception as error:
                raise DataError(
                    f"elements.{key[:100]}: {kind} cannot be built: {error}", where=name
                ) from error
