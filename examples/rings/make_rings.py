"""Write the lattices of the examples, and start values: a toy ring, and a medical synchrotron.

    python make_rings.py [FOLDER]

Both are written as the JSON of `Line.to_dict`, without Xsuite.

The medical ring is the synchrotron of the Proton-Ion Medical Machine Study: positions, lengths
and angles of the magnets, families and tunes as published in "Proton-Ion Medical Machine Study
(PIMMS), Part II", P. J. Bryant (editor), CERN/PS 2000-007 (DR), 2000. Circumference 75.24 m, 16
dipoles of 22.5 degrees with parallel end faces, 24 quadrupoles in three families, chromaticity
sextupoles in two families and one sextupole that excites the third-integer resonance Qx = 5/3
for slow extraction. The good field region is +-60 mm by +-32 mm; here it limits the beam inside
every magnet, as an ellipse.
"""

from __future__ import annotations

import json
import math
import random
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]

PROTON_EV = 938_272_088.16
HERE = Path(__file__).resolve().parent


def line(placed: list[tuple[str, Json]], p0c: float) -> Json:
    """Return a line of named elements; equal names stand for one element at several places."""
    return {
        "__class__": "Line",
        "elements": dict(placed),
        "element_names": [name for name, _ in placed],
        "config": {
            "XTRACK_MULTIPOLE_NO_SYNRAD": True,
            "XFIELDS_BB3D_NO_BEAMSTR": True,
            "XFIELDS_BB3D_NO_BHABHA": True,
            "XTRACK_GLOBAL_XY_LIMIT": 1.0,
        },
        "particle_ref": {"mass0": PROTON_EV, "q0": 1.0, "p0c": p0c},
    }


def drift(length: float) -> Json:
    return {"__class__": "Drift", "length": round(length, 9)}


def quadrupole(length: float, k1: float) -> Json:
    return {"__class__": "Quadrupole", "length": length, "k1": k1}


def sextupole(length: float, k2: float) -> Json:
    return {"__class__": "Sextupole", "length": length, "k2": k2}


def ellipse(across: float, up: float) -> Json:
    return {"__class__": "LimitEllipse", "a": across, "b": up}


def toy_ring() -> Json:
    """Eight equal cells; protons of momentum 1 GeV/c; an elliptical aperture in each cell."""
    bend = math.pi / 8
    cell: list[tuple[str, Json]] = [
        ("qf", quadrupole(0.2, 1.2)),
        ("d", drift(0.8)),
        ("bend", {"__class__": "Bend", "length": 1.0, "angle": bend, "k0": bend}),
        ("d", drift(0.8)),
        ("qd", quadrupole(0.2, -1.2)),
        ("d", drift(0.8)),
        ("sext", sextupole(0.1, 8.0)),
        ("wall", ellipse(0.04, 0.03)),
        ("d", drift(0.8)),
    ]
    return line(cell * 8, 1e9)


# Families of the medical ring, with their lengths in metres.
QF1, QF2, QD = ("qf1", 0.35), ("qf2", 0.35), ("qd", 0.35)
MB, XCF, XCD, XRR = ("mb", 1.661), ("xcf", 0.2), ("xcd", 0.2), ("xrr", 0.2)
CIRCUMFERENCE_M = 75.24
# Centre of each magnet along the ring, in metres.
MAGNETS = (
    (2.3875, QF1), (3.8125, MB), (5.2925, QD), (7.0475, MB), (8.3275, QF1), (10.29, XCD),
    (10.6775, QF2), (12.1325, MB), (14.2625, QD), (15.9175, MB), (17.1975, QF2), (20.2475, QF2),
    (21.7025, MB), (23.1825, QD), (24.045, XCF), (25.4875, MB), (26.7675, QF2), (29.1175, QF1),
    (30.5725, MB), (32.1525, QD), (33.8075, MB), (35.0575, QF1), (35.3575, XRR), (40.0075, QF1),
    (41.4325, MB), (42.9125, QD), (44.6675, MB), (45.9475, QF1), (47.91, XCD), (48.2975, QF2),
    (49.7525, MB), (51.8825, QD), (53.5375, MB), (54.8175, QF2), (57.8675, QF2), (59.3225, MB),
    (60.8025, QD), (61.665, XCF), (63.1075, MB), (64.3875, QF2), (66.7375, QF1), (68.1925, MB),
    (69.7725, QD), (71.4275, MB), (72.6775, QF1),
)  # fmt: skip


def medical_elements(strengths: dict[str, float]) -> dict[str, Json]:
    """Return one element for each family."""
    angle = math.pi / 8
    return {
        "qf1": quadrupole(0.35, strengths["qf1"]),
        "qf2": quadrupole(0.35, strengths["qf2"]),
        "qd": quadrupole(0.35, strengths["qd"]),
        "mb": {
            "__class__": "Bend",
            "length": 1.661,
            "angle": angle,
            "k0": angle / 1.661,
            "edge_entry_angle": angle / 2,
            "edge_exit_angle": angle / 2,
        },
        "xcf": sextupole(0.2, strengths["xcf"]),
        "xcd": sextupole(0.2, strengths["xcd"]),
        "xrr": sextupole(0.2, strengths["xrr"]),
        "good_field": ellipse(0.06, 0.032),
    }


# Matched with Xsuite's twiss to the working point of the waiting beam in the study: Qx = 1.6789,
# Qy = 1.72, chromaticities dQ/ddelta of -4 and -1, no dispersion in the resonance sextupole.
# Quadrupoles in 1/m^2, sextupoles in 1/m^3.
STRENGTHS = {
    "qf1": 0.319247,
    "qf2": 0.525358,
    "qd": -0.527462,
    "xcf": 0.8624,
    "xcd": -2.017203,
    "xrr": 8.65,
}


def medical_ring(strengths: dict[str, float] = STRENGTHS) -> Json:
    """Return the medical ring, protons of 250 MeV."""
    elements = medical_elements(strengths)
    placed: list[tuple[str, Json]] = []
    at, drifts = 0.0, 0
    for centre, (family, length) in MAGNETS:
        drifts += 1
        placed.append((f"drift_{drifts}", drift(centre - length / 2 - at)))
        placed += [("good_field", elements["good_field"]), (family, elements[family])]
        at = centre + length / 2
    placed.append((f"drift_{drifts + 1}", drift(CIRCUMFERENCE_M - at)))
    kinetic = 250e6
    return line(placed, math.sqrt(kinetic * (kinetic + 2 * PROTON_EV)))


def medical_starts() -> str:
    """Return start values as a table: 200 protons of a wide beam, evenly spread."""
    draw = random.Random(2000)
    half = {"x": 0.04, "px": 0.0045, "y": 0.014, "py": 0.006, "delta": 0.001}
    lines = [",".join(half)]
    for _ in range(200):
        lines.append(",".join(f"{draw.uniform(-one, one):.6g}" for one in half.values()))
    return "\n".join(lines) + "\n"


def main(folder: Path) -> None:
    starts = folder / "medical_starts.csv"
    starts.write_text(medical_starts(), encoding="utf-8")
    print(starts)
    for name, made in (("toy_ring", toy_ring()), ("medical_ring", medical_ring())):
        path = folder / f"{name}.json"
        path.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
