"""Designs of experiments: points that fill the ranges, and where models disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from sciharness.errors import RequestError

Array = NDArray[np.float64]
Design = Literal["sobol", "latin_hypercube"]
CANDIDATES = 1024
COMMITTEE = 600  # cases that the members of the committee learn from
WORSE = 2.0  # times the least error that a member may have


def _array(values: Sequence[float]) -> Array:
    return np.array(values, dtype=np.float64)


@frozen(eq=False)
class Ranges:
    """The box of a design: lowest and highest value of each input column."""

    names: tuple[str, ...]
    low: Array = field(converter=_array)
    high: Array = field(converter=_array)

    @classmethod
    def of(cls, names: Sequence[str], given: Mapping[str, tuple[float, float]]) -> Ranges:
        """Return the ranges of the solver's input columns.

        Raises:
            RequestError: a column has none, a range is none of its columns, or is empty.
        """
        lacking = [name for name in names if name not in given]
        strange = [name for name in given if name not in names]
        if lacking or strange:
            raise RequestError(
                f"no range for {', '.join(lacking)}" if lacking else f"no input {strange[0]!r}",
                where="with.ranges",
                hint=f"Give one for each of {', '.join(names)}.",
            )
        for name in names:
            low, high = given[name]
            if not (np.isfinite([low, high]).all() and low < high):
                raise RequestError(
                    f"from {low!r} to {high!r}",
                    where=f"with.ranges.{name}",
                    hint="Give two finite numbers, the lower one first.",
                )
        pairs = [given[name] for name in names]
        return cls(tuple(names), [low for low, _ in pairs], [high for _, high in pairs])

    def scaled(self, unit: Array) -> Array:
        """Return points of the unit cube as values of the columns, never beyond the ends."""
        return np.clip(self.low + unit * (self.high - self.low), self.low, self.high)

    def unscaled(self, rows: Array) -> Array:
        """Return values of the columns as points of the unit cube."""
        return np.asarray((rows - self.low) / (self.high - self.low))


def filling(ranges: Ranges, count: int, design: Design, seed: int) -> Array:
    """Return ``count`` rows that fill the ranges evenly, shape (count, columns)."""
    from scipy.stats import qmc  # half a second to import

    dimensions = len(ranges.names)
    if design == "sobol":
        power = max(1, int(np.ceil(np.log2(max(count, 2)))))
        unit = qmc.Sobol(dimensions, scramble=True, seed=seed).random_base2(power)[:count]
    else:
        unit = qmc.LatinHypercube(dimensions, seed=seed).random(count)
    return ranges.scaled(np.asarray(unit, dtype=np.float64))


def with_corners(ranges: Ranges, rows: Array) -> Array:
    """Return a design whose last rows are corners, so that it reaches the ends of all ranges.

    All corners where that takes at most a quarter of the rows, else two opposite
    ones. A solver may well fail there, so its first cases are others.
    """
    dimensions = len(ranges.names)
    ends = [[0.0] * dimensions, [1.0] * dimensions]
    if 4 * 2**dimensions <= len(rows):
        ends = [
            [float(place >> bit & 1) for bit in range(dimensions)] for place in range(2**dimensions)
        ]
    made = rows.copy()
    made[-len(ends) :] = ranges.scaled(np.array(ends))
    return made


def at_random(ranges: Ranges, count: int, seed: int) -> Array:
    """Return independent uniform rows: what calibration and comparison need."""
    draw = np.random.default_rng(seed)
    return ranges.scaled(draw.random((count, len(ranges.names))))


def disagreeing(ranges: Ranges, asked: Array, answered: Array, count: int, seed: int) -> Array:
    """Return ``count`` new rows where models of different kinds disagree most.

    ``asked`` (n, columns) and ``answered`` (n, outputs) are the cases so far.
    Points close to each other count as one: each choice lowers what its
    neighbourhood is worth.
    """
    candidates = at_random(ranges, max(CANDIDATES, 4 * count), seed)
    unit, known = ranges.unscaled(candidates), ranges.unscaled(asked)
    worth = np.zeros(len(candidates))
    for column in answered.T:
        spread = float(column.std())
        if spread > 0.0:
            said = committee(known, column, unit, seed)
            worth += np.std(said, axis=0) / spread
    worth += 1e-9  # where all agree the design is merely filled up
    return candidates[spread_out(unit, worth, count)]


def committee(known: Array, values: Array, unit: Array, seed: int) -> Array:
    """Return what the better ones of several models say, shape (models, points).

    A model that is much worse than the others would disagree with them
    everywhere, so each is tried on a fifth of the cases first.
    """
    held = np.random.default_rng(seed).permutation(len(known)) < len(known) // 5
    made = members(known.shape[1], seed)
    errors = [
        float(np.abs(_said(one, known[~held], values[~held], known[held]) - values[held]).mean())
        for one in made
    ]
    limit = max(WORSE * min(errors), sorted(errors)[1])  # two at least
    good = [one for one, error in zip(made, errors, strict=True) if error <= limit]
    return np.array([_said(one, known, values, unit) for one in good])


def members(dimensions: int, seed: int) -> list[Any]:  # Any: regressors of scikit-learn
    """Return models of different kinds: trees, a polynomial, Gaussian processes."""
    # Slow imports, only when something is left to decide.
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import Matern
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    degree = 3 if dimensions <= 4 else 2
    far = dimensions**0.5
    return [
        ExtraTreesRegressor(50, random_state=seed, n_jobs=1),
        make_pipeline(PolynomialFeatures(degree), Ridge(1e-6)),
        GaussianProcessRegressor(Matern(0.3 * far, nu=2.5), alpha=1e-6, optimizer=None),
        GaussianProcessRegressor(Matern(0.1 * far, nu=1.5), alpha=1e-6, optimizer=None),
    ]


def _said(model: Any, known: Array, values: Array, unit: Array) -> Array:  # Any: as above
    rows = slice(None, None, -(-len(known) // COMMITTEE))  # a process of all would be slow
    shift = float(values[rows].mean())
    found = model.fit(known[rows], values[rows] - shift).predict(unit)
    return np.asarray(found + shift, dtype=np.float64)


def spread_out(unit: Array, worth: Array, count: int) -> list[int]:
    """Return places of ``count`` points of high worth that are not all in one spot."""
    left, chosen = worth.copy(), []
    radius = 0.25 * (1.0 / count) ** (1.0 / unit.shape[1])
    for _ in range(count):
        best = int(np.argmax(left))
        chosen.append(best)
        distance = np.sqrt(((unit - unit[best]) ** 2).sum(axis=1))
        left *= 1.0 - np.exp(-0.5 * (distance / radius) ** 2)
        left[best] = -1.0
    return chosen
