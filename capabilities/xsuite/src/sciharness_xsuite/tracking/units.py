"""Sigma units: beam sizes at the start of the ring from emittances and optics."""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen

from sciharness.errors import DataError
from sciharness_xsuite.lattice import Lattice
from sciharness_xsuite.optics import optics_at_start
from sciharness_xsuite.tracking.maps import with_maps
from sciharness_xsuite.tracking.record import Floats


@frozen
class Sigmas:
    """RMS beam sizes at the start: x [m], px, y [m], py; and the closed orbit there.

    ``alfx`` and ``alfy`` are the optics functions that tilt the beam.
    """

    x_m: float
    px: float
    y_m: float
    py: float
    alfx: float
    alfy: float
    emittance_x_m: float
    emittance_y_m: float
    orbit: tuple[float, float, float, float, float, float]

    def in_metres(self, normalised: Floats) -> Floats:
        """Return coordinates of particles whose x, px, y, py are multiples of sigma.

        Normalised coordinates are those in which the beam is round: with only
        x given a particle lies on the ellipse of x sigma. The closed orbit is
        added; zeta and delta are kept, dispersion is not added.
        """
        made = normalised.copy()
        for place, size, alfa, emittance in (
            (0, self.x_m, self.alfx, self.emittance_x_m),
            (2, self.y_m, self.alfy, self.emittance_y_m),
        ):
            made[:, place] = size * normalised[:, place]
            tilt = normalised[:, place + 1] - alfa * normalised[:, place]
            made[:, place + 1] = emittance / size * tilt
        made[:, :4] += np.asarray(self.orbit[:4])
        made[:, 4:] += np.asarray(self.orbit[4:])
        return made


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
    scale = lattice.reference.p0c_ev / lattice.reference.mass0_ev  # beta0 gamma0
    ex, ey = nemitt_x_m / scale, nemitt_y_m / scale
    gamma_x = (1.0 + optics.alfx**2) / optics.betx
    gamma_y = (1.0 + optics.alfy**2) / optics.bety
    return Sigmas(
        x_m=math.sqrt(ex * optics.betx),
        px=math.sqrt(ex * gamma_x),
        y_m=math.sqrt(ey * optics.bety),
        py=math.sqrt(ey * gamma_y),
        alfx=optics.alfx,
        alfy=optics.alfy,
        emittance_x_m=ex,
        emittance_y_m=ey,
        orbit=optics.orbit,
    )
