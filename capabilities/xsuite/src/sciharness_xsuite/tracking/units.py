"""Sigma units: beam sizes at the start of the ring from emittances and optics."""

from __future__ import annotations

import math
from typing import Any

from attrs import frozen

from sciharness.errors import DataError
from sciharness_xsuite.lattice import Lattice
from sciharness_xsuite.optics import optics_at_start
from sciharness_xsuite.tracking.maps import with_maps


@frozen
class Sigmas:
    """RMS beam sizes at the start: x [m], px, y [m], py; and the closed orbit there."""

    x_m: float
    px: float
    y_m: float
    py: float
    orbit: tuple[float, float, float, float, float, float]


def sigmas(lattice: Lattice, *, nemitt_x_m: float, nemitt_y_m: float) -> Sigmas:
    """Return the beam sizes of a beam with these normalised emittances [m].

    Without coupling and dispersion: sigma = sqrt(beta * emittance), where
    the geometric emittance is the normalised one divided by beta0 gamma0.

    Raises:
        DataError: the ring has no stable optics.
    """
    optics = optics_at_start(with_maps(lattice, "exact"))
    if optics.fault:
        raise DataError(
            f"sigma units need stable optics: {optics.fault}",
            where=lattice.name,
            hint="Give coordinates in metres.",
        )
    scale: Any = lattice.reference.p0c_ev / lattice.reference.mass0_ev  # beta0 gamma0
    ex, ey = nemitt_x_m / scale, nemitt_y_m / scale
    gamma_x = (1.0 + optics.alfx**2) / optics.betx
    gamma_y = (1.0 + optics.alfy**2) / optics.bety
    return Sigmas(
        math.sqrt(ex * optics.betx),
        math.sqrt(ex * gamma_x),
        math.sqrt(ey * optics.bety),
        math.sqrt(ey * gamma_y),
        optics.orbit,
    )
