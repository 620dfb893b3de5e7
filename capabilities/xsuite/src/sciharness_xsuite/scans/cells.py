"""Finding one cell of a scan, and keeping finished ones for the next time."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import attrs
from attrs import define, evolve, field

from sciharness import Context, canonical_json
from sciharness.errors import DataError, HarnessError, RequestError
from sciharness_xsuite.boundary import along, aperture
from sciharness_xsuite.boundary.request import ApertureRequest, BoundaryRequest, MomentumRequest
from sciharness_xsuite.lattice import Lattice
from sciharness_xsuite.optics import optics_at_start
from sciharness_xsuite.scans.knobs import Cell, with_cell
from sciharness_xsuite.scans.request import ScanRequest
from sciharness_xsuite.settings import Coordinate

SCHEMA = "scan-cells-v1"
CELLS = "scan_cells.json"
MAIN = {
    "twiss": "qx",
    "survival_boundary": "boundary",
    "momentum_aperture": "momentum_aperture",
    "dynamic_aperture": "da_mean",
}

Found = dict[str, Any]  # Any: JSON values: status, metrics, reason


@define
class Finished:
    """Cells that are finished, by their values; ``key`` says of which lattice and settings."""

    key: str
    cells: dict[Cell, Found] = field(factory=dict)
    reused: int = 0

    def document(self) -> dict[str, Any]:
        """Return the cells as JSON values, in the order of their values."""
        return {
            "schema": SCHEMA,
            "key": self.key,
            "cells": [
                {"values": list(cell), **found} for cell, found in sorted(self.cells.items())
            ],
        }

    def write(self, path: Path) -> None:
        """Write the cells; the file appears whole or not at all."""
        part = path.with_name(f"{path.name}.part")
        text = json.dumps(self.document(), allow_nan=False, indent=1) + "\n"
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(path)

    def take(self, path: Path) -> bool:
        """Take over finished cells of an earlier scan; false if it is another lattice or setting.

        Raises:
            DataError: the file is no such record.
        """
        try:
            plain = json.loads(path.read_text("utf-8"))
            if plain["schema"] != SCHEMA:
                raise ValueError(f"schema {plain['schema']!r}")
            cells = {tuple(map(float, one["values"])): _checked(one) for one in plain["cells"]}
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"no record of finished cells: {error}", where="previous", hint=f"Give {CELLS}."
            ) from error
        if plain["key"] != self.key:
            return False
        self.cells |= {cell: one for cell, one in cells.items() if cell not in self.cells}
        return True


def _checked(one: Any) -> Found:  # Any: a JSON value
    metrics = {str(name): float(value) for name, value in one["metrics"].items()}
    return {"status": str(one["status"]), "metrics": metrics, "reason": str(one["reason"])}


def key_of(request: ScanRequest, lattice: Lattice) -> str:
    """Return a digest of all that the cells depend on beside their values."""
    settings = attrs.asdict(request)
    scanned = [
        {name: one[name] for name in ("field", "elements", "how")} for one in settings["parameters"]
    ]
    facts = {
        "lattice": lattice.sha256,
        "parameters": scanned,
        "measure": request.measure,
        **{name: settings[name] for name in ("aperture", "boundary", "momentum")},
    }
    plain = json.loads(json.dumps(facts))
    return hashlib.sha256(canonical_json(plain)).hexdigest()


def settings_of(request: ScanRequest) -> Any:  # Any: the request of the measure
    """Return the settings of what is measured.

    Raises:
        RequestError: settings of another measure are given, or needed ones are missing.
    """
    given = {
        "dynamic_aperture": ("aperture", request.aperture),
        "survival_boundary": ("boundary", request.boundary),
        "momentum_aperture": ("momentum", request.momentum),
    }
    for measure, (name, one) in given.items():
        if one is not None and measure != request.measure:
            raise RequestError(f"belongs to {measure}, not to {request.measure}", where=name)
    if request.measure == "dynamic_aperture" and request.aperture is None:
        raise RequestError(
            "the search needs an outer radius",
            where="aperture",
            hint="For example aperture: {r_max: 0.05, num_turns: 128}.",
        )
    if request.measure == "survival_boundary":
        return request.boundary or BoundaryRequest()
    if request.measure == "momentum_aperture":
        return request.momentum or MomentumRequest()
    return request.aperture


def find(request: ScanRequest, lattice: Lattice, cell: Cell, context: Context) -> Found:
    """Return what was found for one cell; a ring that is not stable is an answer, not an error."""
    quiet = Context(
        inputs={},
        workspace=context.workspace / "cell",  # its rays are not those of the next cell
        seed=context.seed,
        workers=context.workers,
        is_cancelled=lambda: context.cancelled,
    )
    try:
        changed, offset = with_cell(request, lattice, cell)
        metrics = _measured(settings_of(request), changed, offset, quiet)
    except RequestError:
        raise
    except HarnessError as error:
        return {"status": "failed", "metrics": {}, "reason": str(error)}
    return {"status": "finished", "metrics": metrics, "reason": ""}


def _measured(
    settings: Any,  # Any: the request of the measure, None for optics
    lattice: Lattice,
    offset: dict[Coordinate, float],
    context: Context,
) -> dict[str, float]:
    if isinstance(settings, ApertureRequest):
        shifted = evolve(settings, offset={**settings.offset, **offset})
        return aperture.find(shifted, lattice, context)[0].metrics()
    if isinstance(settings, BoundaryRequest):
        moved = evolve(settings, start={**settings.start, **offset})
        return along.find_boundary(moved, lattice, context)[0].metrics
    if isinstance(settings, MomentumRequest):
        moved_momentum = evolve(settings, start={**settings.start, **offset})
        return along.both_sides(along.find_momentum(moved_momentum, lattice, context)[0])
    optics = optics_at_start(lattice)
    if optics.fault:
        raise DataError(optics.fault, where=lattice.name)
    names = ("qx", "qy", "dqx", "dqy", "betx", "bety", "dx")
    return {name: float(getattr(optics, name)) for name in names}
