"""The operation ``scan``, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sciharness import Context, Outcome
from sciharness.errors import DataError, RequestError
from sciharness_xsuite.boundary.frame import write_rows
from sciharness_xsuite.lattice import read_lattice
from sciharness_xsuite.scans.cells import CELLS, MAIN, Finished, find, key_of, settings_of
from sciharness_xsuite.scans.knobs import Cell, cells, check
from sciharness_xsuite.scans.request import ScanRequest
from sciharness_xsuite.tracking.tables import parquet_modules


def run(request: ScanRequest, context: Context) -> Outcome:
    """Measure a lattice for every cell of a grid of parameters.

    Raises:
        RequestError: the parameters do not fit the lattice or each other.
        DataError: the lattice cannot be kept, or no cell gave a result.
    """
    names, values, wanted = cells(request)
    settings_of(request)
    lattice = read_lattice(context.inputs["lattice"].path)
    check(request, lattice)
    finished = Finished(key_of(request, lattice))
    notes = _taken(finished, context)
    known = set(finished.cells)
    whole = _fill(request, finished, lattice, wanted, context)
    done = {cell: finished.cells[cell] for cell in wanted if cell in finished.cells}
    reused = sum(cell in known for cell in done)
    good = {cell: found for cell, found in done.items() if found["status"] == "finished"}
    if not good:
        reasons = sorted({found["reason"] for found in done.values()})
        raise DataError(
            f"none of {len(done)} cells gave a result: {'; '.join(reasons)[:500]}",
            where=lattice.name,
        )
    metrics = sorted({name for found in good.values() for name in found["metrics"]})
    shown = request.show or MAIN[request.measure]
    if shown not in metrics:
        raise RequestError(f"expected one of {', '.join(metrics)}, found {shown!r}", where="show")
    _write(request, context, names, metrics, done)
    finished.write(context.output(CELLS, "analysis_result"))
    notes += [
        f"{len(good)} of {len(wanted)} cells have a result, {reused} of them from before"
        + ("" if whole else "; cancelled: the rest is missing"),
        *sorted({f"failed: {one['reason']}"[:300] for one in done.values() if one["reason"]}),
        *lattice.notes,
    ]
    _draw(request, context, (names, values, shown), done, notes)
    return Outcome(_metrics(shown, good, wanted, reused), notes)


def _taken(finished: Finished, context: Context) -> list[str]:
    """Take over finished cells: of the attempt before, and of a scan before."""
    notes: list[str] = []
    if context.restored is not None and (context.restored / CELLS).is_file():
        finished.take(context.restored / CELLS)
    if "previous" in context.inputs and not finished.take(_record(context.inputs["previous"].path)):
        notes.append(
            "the scan before was of another lattice, other settings or other parameters: none of "
            "its cells could be used"
        )
    return notes


def _record(path: Path) -> Path:
    return path / CELLS if path.is_dir() else path


def _fill(
    request: ScanRequest, finished: Finished, lattice: Any, wanted: list[Cell], context: Context
) -> bool:
    for place, cell in enumerate(wanted):
        if cell in finished.cells:
            continue
        if _stopped(context):
            return False
        told = ", ".join(f"{value:g}" for value in cell)
        context.progress(place / len(wanted), f"cell {place + 1} of {len(wanted)}: {told}")
        found = find(request, lattice, cell, context)
        if _stopped(context) and found["status"] == "failed":
            return False
        finished.cells[cell] = found
        finished.write(context.checkpoint() / CELLS)
    return True


def _stopped(context: Context) -> bool:
    return context.cancelled


def _write(
    request: ScanRequest,
    context: Context,
    names: list[str],
    metrics: list[str],
    done: dict[Cell, Any],
) -> None:
    header = [*names, "status", *metrics, "reason"]
    rows = [
        [*cell, found["status"], *(found["metrics"].get(name) for name in metrics), found["reason"]]
        for cell, found in done.items()
    ]
    if request.table == "csv":
        write_rows(context.output("scan.csv", "DATASET"), header, rows)
        return
    pyarrow, parquet = parquet_modules()
    columns = {name: [row[place] for row in rows] for place, name in enumerate(header)}
    parquet.write_table(pyarrow.table(columns), context.output("scan.parquet", "DATASET"))


def _metrics(
    shown: str, good: dict[Cell, Any], wanted: list[Cell], reused: int
) -> dict[str, float]:
    found = [one["metrics"][shown] for one in good.values() if shown in one["metrics"]]
    return {
        "cells": float(len(wanted)),
        "cells_finished": float(len(good)),
        "cells_reused": float(reused),
        "smallest": min(found),
        "largest": max(found),
    }


def _draw(
    request: ScanRequest,
    context: Context,
    frame: tuple[list[str], list[list[float]], str],
    done: dict[Cell, Any],
    notes: list[str],
) -> None:
    from sciharness_xsuite.plots.scan import write_scan_part  # matplotlib

    write_scan_part(request, context, frame, done, notes)
