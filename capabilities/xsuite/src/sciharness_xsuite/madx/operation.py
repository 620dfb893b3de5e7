"""The operation ``madx_to_xsuite_json``, step by step."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from sciharness import Context, Outcome
from sciharness.errors import DataError
from sciharness.programs import Grants, Limits, run_child
from sciharness_xsuite.checking import metrics_of, warnings_of
from sciharness_xsuite.lattice import Lattice, read_lattice
from sciharness_xsuite.madx.text import Reading, read_madx
from sciharness_xsuite.optics import optics_at_start
from sciharness_xsuite.requests import MadxRequest
from sciharness_xsuite.tracking.maps import with_maps

_SECONDS = 900.0
_MEMORY = 4 * 2**30
_SUFFIXES = (".madx", ".seq", ".mad", ".str", ".txt")
_MASSES_EV = {  # CODATA 2018
    "proton": (938272088.16, 1.0),
    "antiproton": (938272088.16, -1.0),
    "electron": (510998.95, -1.0),
    "positron": (510998.95, 1.0),
}


def run(request: MadxRequest, context: Context) -> Outcome:
    """Check the text, parse it in a confined child, read the result by our own rules."""
    main, folder = _main_file(context.inputs["source"].path, request.main_file)
    reading = read_madx(main, folder)
    name = _sequence(reading, request.sequence, main.name)
    context.progress(0.1, f"reading sequence {name}")
    document = _converted(reading, name, context, main.name)
    line = {**document["line"], "particle_ref": _particle(request, document["line"], main.name)}
    path = context.output("ring.json", "lattice")
    path.write_text(json.dumps(line), "utf-8")
    lattice = read_lattice(path)
    _write(path, lattice)
    optics = optics_at_start(with_maps(lattice, "exact"))
    said = (
        f"sequence {name}: {len(lattice.element_names):,} elements, "
        f"{lattice.circumference_m:.9g} m, p0c {lattice.reference.p0c_ev:.6g} eV",
        *warnings_of(lattice, optics),
        *reading.notes,
        *(f"parser: {text}" for text in document.get("warnings", ())),
    )
    return Outcome(metrics_of(lattice, optics), said)


def _main_file(path: Path, wanted: str) -> tuple[Path, Path]:
    if path.is_file():
        return path, path.parent
    if wanted:
        main = (path / wanted).resolve()
        if main.is_relative_to(path.resolve()) and main.is_file():
            return main, path
        raise DataError(f"there is no file {wanted[:100]!r} in the input", where="main_file")
    found = sorted(one for one in path.iterdir() if one.suffix.lower() in _SUFFIXES)
    if len(found) == 1:
        return found[0], path
    names = ", ".join(one.name for one in found[:8]) or "no MAD-X file"
    raise DataError(
        f"the folder holds {names}", where=path.name, hint="Name the first one: main_file=NAME."
    )


def _sequence(reading: Reading, wanted: str, name: str) -> str:
    chosen = (wanted or reading.used).lower()
    if not chosen and len(reading.names) == 1:
        return reading.names[0]
    if chosen in reading.names:
        return chosen
    found = ", ".join(reading.names[:12]) or "none"
    what = f"there is no sequence {chosen!r}" if chosen else "there is more than one sequence"
    raise DataError(
        f"{what if reading.names else 'no sequence is defined'}; defined are: {found}",
        where=name,
        hint="Choose one with --with sequence=NAME.",
    )


def _converted(
    reading: Reading, sequence: str, context: Context, name: str
) -> Mapping[str, Any]:  # Any: JSON values
    folder = context.workspace / "madx"
    folder.mkdir(exist_ok=True)
    program = files("sciharness_xsuite.madx").joinpath("converting.py").read_text("utf-8")
    (folder / "convert.py").write_text(program, "utf-8")
    (folder / "definitions.madx").write_text(reading.text_for(sequence, name), "utf-8")
    ended = run_child(
        [sys.executable, "-I", "convert.py", "definitions.madx", sequence, "line.json"],
        cwd=folder,
        limits=Limits(wall_seconds=_SECONDS, memory_bytes=_MEMORY),
        grants=Grants(write=(folder,)),
        cancelled=lambda: context.cancelled,
    )
    if ended.failure or ended.returncode:
        said = ended.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise DataError(
            f"xtrack's MAD-X parser does not understand it ({ended.failure or 'error'}): "
            f"{_telling(said)[:300]}",
            where=name,
            hint="Save the sequence from MAD-X (save, sequence=NAME, file=ring.seq, beam=true) "
            "and give that file.",
        )
    found: Mapping[str, Any] = json.loads((folder / "line.json").read_bytes())
    return found


def _telling(lines: list[str]) -> str:
    """Return the line of a traceback that names the error."""
    return next((line for line in reversed(lines) if "Error" in line or ":" in line), lines[-1])


def _particle(request: MadxRequest, line: Mapping[str, Any], name: str) -> Any:  # Any: JSON values
    if request.particle and request.p0c_ev:
        mass, charge = _MASSES_EV[request.particle]
        return {"mass0": mass, "q0": charge, "p0c": request.p0c_ev}
    particle = line.get("particle_ref")
    if particle is None:
        raise DataError(
            "the text has no BEAM statement for this sequence, so no reference particle",
            where=name,
            hint="Add BEAM, or --with particle=proton --with p0c_ev=26e9.",
        )
    return particle


def _write(path: Path, lattice: Lattice) -> None:
    """Write the line as it was checked, so that what is delivered is what was read."""
    import xtrack

    document = {"__class__": "Line", "xtrack_version": xtrack.__version__, **lattice.plain}
    path.write_text(json.dumps(document, allow_nan=False, indent=1) + "\n", "utf-8")
