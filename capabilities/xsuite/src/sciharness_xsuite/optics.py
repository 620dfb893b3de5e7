"""Optics of a ring: tunes, chromaticities, closed orbit, or the reason why there are none."""

from __future__ import annotations

from typing import Any

from attrs import field, frozen

from sciharness_xsuite.lattice import Lattice
from sciharness_xsuite.lattice.load import quiet

Orbit = tuple[float, float, float, float, float, float]
_ORIGIN: Orbit = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_AT_START = ("betx", "bety", "alfx", "alfy", "dx", "dpx")


@frozen
class Optics:
    """Optics at the start of the ring; ``fault`` says why there are none.

    Tunes qx, qy and qs (fractional qs only in 6D, else 0), chromaticities
    dqx, dqy = dQ/ddelta, beta functions [m], dispersion [m], the closed
    ``orbit`` as x [m], px, y [m], py, zeta [m], delta. ``method`` is 4d or 6d.
    ``table`` is xtrack's twiss table.
    """

    method: str
    qx: float = 0.0
    qy: float = 0.0
    qs: float = 0.0
    dqx: float = 0.0
    dqy: float = 0.0
    betx: float = 0.0
    bety: float = 0.0
    alfx: float = 0.0
    alfy: float = 0.0
    dx: float = 0.0
    dpx: float = 0.0
    orbit: Orbit = _ORIGIN
    fault: str = ""
    table: Any = field(default=None, eq=False, repr=False)  # Any: xtrack has no types

    def summary(self) -> dict[str, Any]:  # Any: JSON values
        """Return tunes, chromaticities and optics at the start as JSON values."""
        if self.fault:
            return {"method": self.method, "stable": False, "reason": self.fault}
        names = ("qx", "qy", "qs", "dqx", "dqy", *_AT_START)
        orbit = dict(zip(("x", "px", "y", "py", "zeta", "delta"), self.orbit, strict=True))
        numbers = {name: getattr(self, name) for name in names}
        return {"method": self.method, "stable": True, **numbers, "closed_orbit": orbit}


def optics_at_start(lattice: Lattice, method: str = "") -> Optics:
    """Return the optics: 6D where a cavity focuses, 4D else; ``method`` chooses one.

    If 6D fails, 4D is tried. Never raises for a ring without stable optics.
    """
    wanted = [method] if method else (["6d", "4d"] if lattice.has_rf else ["4d"])
    faults = []
    for one in wanted:
        found = _optics(lattice, one)
        if not found.fault:
            return found
        faults.append(f"{one}: {found.fault}")
    return Optics(wanted[-1], fault="; ".join(faults))


def _optics(lattice: Lattice, method: str) -> Optics:
    with quiet():
        try:
            table = lattice.line.twiss(method=method)
        except Exception as error:  # noqa: BLE001  xtrack raises many kinds for unstable rings
            return Optics(method, fault=_reason(error))
    orbit = tuple(float(table[name][0]) for name in ("x", "px", "y", "py", "zeta", "delta"))
    whole = {name: float(table[name]) for name in ("qx", "qy", "dqx", "dqy")}
    first = {name: float(table[name][0]) for name in _AT_START}
    numbers: dict[str, Any] = {**whole, **first, "orbit": orbit, "table": table}
    return Optics(method, qs=float(table.qs) if method == "6d" else 0.0, **numbers)


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    known = {
        "dominantly diagonal": "the one-turn map is not stable",
        "Invalid one-turn map": "the one-turn map is not stable",
        "unstable": "the one-turn map is not stable",
        "Invalid n": "the one-turn map is not stable",  # eigenvectors that have no norm
        "Cannot find closed orbit": "no closed orbit was found",
        "No closed orbit": "no closed orbit was found",
    }
    said = next((plain for sign, plain in known.items() if sign in text), "")
    return f"{said} ({text[:200]})" if said else text[:200]
