"""Columns brought to mean 0 and standard deviation 1."""

from __future__ import annotations

import numpy as np
from attrs import frozen

from sciharness.errors import DataError
from sciharness_tabular.rows import Array

# Magnitudes whose squares are far from the ends of double precision.
_SMALL, _LARGE = 1e-120, 1e120


@frozen(eq=False)
class Scaling:
    """Shift and scale of each column, shape (columns,)."""

    shift: Array
    scale: Array

    def columns(self, features: Array) -> Array:
        """Return the scaled columns, shape (columns, rows), C order."""
        from sciharness_publisher.inference.polynomial import scaled

        with np.errstate(over="ignore", invalid="ignore"):  # refused below, by name
            found = scaled(np.ascontiguousarray(features.T), self.shift, self.scale)
        if not np.isfinite(found).all():
            place = int(np.argmin(np.isfinite(found).all(axis=1)))
            raise DataError(f"feature {place + 1} spans more than double precision", where="data")
        return found


def scaling_of(features: Array) -> Scaling:
    """Return the scaling by means and standard deviations; a constant column keeps scale 1."""
    largest = np.maximum(features.max(axis=0), -features.min(axis=0))
    if (largest < _LARGE).all() and ((largest > _SMALL) | (largest == 0)).all():
        shift, scale = features.mean(axis=0), features.std(axis=0)
    else:
        # By powers of two, so that squares stay finite and nothing is rounded.
        step = np.ldexp(1.0, np.frexp(np.where(largest > 0, largest, 1.0))[1] - 1)
        shift = (features / step).mean(axis=0) * step
        scale = (features / step).std(axis=0) * step
    return Scaling(shift, np.where(scale > 0, scale, 1.0))
