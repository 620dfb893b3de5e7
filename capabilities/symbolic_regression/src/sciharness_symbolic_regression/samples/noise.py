"""How noisy the target is, told without any formula: from repeated or neighbouring rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_symbolic_regression.samples.sample import Sample, thinned

Array = NDArray[np.float64]

ROWS = 2_000
LEAST_REPEATS = 5  # degrees of freedom from which repeated rows tell enough
LEAST_ROWS, MOST_COLUMNS = 60, 4  # where neighbours are near enough to tell
NEIGHBOURS = 8
TOO_CLOSE = 0.7  # of the noise: a formula that leaves less follows the noise

Json = dict[str, Any]  # Any: JSON values


@frozen
class Noise:
    """Standard deviation of the target among equal rows, and where it was read off.

    ``source`` is ``repeated rows`` or ``neighbouring rows``; the second is an
    extrapolation to no distance and says rather too much than too little.
    """

    level: float
    source: str

    def document(self) -> Json:
        """Return it for formulas.json."""
        return {"level": self.level, "source": self.source}


def noise_of(sample: Sample) -> Noise | None:
    """Return the noise of the target, or None where the rows cannot tell."""
    look = thinned(sample, ROWS, seed=0)
    table = np.column_stack(list(look.columns.values()))
    repeated = _from_repeats(table, look.target)
    if repeated is not None:
        return Noise(repeated, "repeated rows")
    varying = table[:, np.ptp(table, axis=0) > 0]
    if look.rows < LEAST_ROWS or not 0 < varying.shape[1] <= MOST_COLUMNS:
        return None
    return Noise(_from_neighbours(varying, look.target), "neighbouring rows")


def sentence(noise: Noise | None, error: float) -> str:
    """Return what a reader has to know of a formula's error beside the noise, or nothing."""
    if noise is None or noise.level <= 0 or error >= TOO_CLOSE * noise.level:
        return ""
    if noise.source == "neighbouring rows":
        return ""  # an upper estimate cannot accuse a formula
    return (
        f"The formula leaves {error:.3g} where repeated rows differ by {noise.level:.3g}: "
        "it may follow the noise."
    )


def _from_repeats(table: Array, target: Array) -> float | None:
    """Return the pooled standard deviation of targets of equal rows."""
    _, place, counts = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    place = place.reshape(-1)
    freedom = len(target) - len(counts)
    if freedom < LEAST_REPEATS:
        return None
    means = np.bincount(place, target) / counts
    return float(np.sqrt(np.square(target - means[place]).sum() / freedom))


def _from_neighbours(table: Array, target: Array) -> float:
    """Return the intercept of half squared differences over squared distances (Gamma test)."""
    from scipy.spatial import cKDTree  # light part of a heavy package

    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    distances, nearest = cKDTree(scaled).query(scaled, k=NEIGHBOURS + 1)
    apart = np.square(distances[:, 1:]).mean(axis=0)
    half = 0.5 * np.square(target[nearest[:, 1:]] - target[:, None]).mean(axis=0)
    _, intercept = np.polyfit(apart, half, 1)
    least = float(half.min())
    return float(np.sqrt(min(max(intercept, 0.0), least)))
