"""Kinds of surrogates: fitted here, predicted anywhere by what model.json says of them."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from sciharness_publisher.families import PolynomialModel, Tree, TreesModel
from sciharness_publisher.predictor import Column

Array = NDArray[np.float64]
Json = dict[str, Any]  # Any: JSON values

DEGREES = (2, 3, 4, 6, 8, 10)
ROWS_PER_TERM = 2.0
TUNED_ROWS = 200  # that the length scales of a Gaussian process are found on
MOST_POINTS = 1500


@frozen(eq=False)
class Box:
    """The domain of a surrogate: its columns with lowest and highest values."""

    names: tuple[str, ...]
    low: Array
    high: Array

    @property
    def middle(self) -> Array:
        """The values in the middle of the ranges."""
        return (self.low + self.high) / 2.0

    @property
    def half(self) -> Array:
        """Half of each range, 1 for a column that does not vary."""
        half = (self.high - self.low) / 2.0
        return np.where(half > 0.0, half, 1.0)

    def columns(self) -> tuple[Column, ...]:
        """Return the columns as the predictor writer takes them."""
        return tuple(
            Column(name, f"X{place + 1}", float(low), float(high))
            for place, (name, low, high) in enumerate(
                zip(self.names, self.low, self.high, strict=True)
            )
        )


class Surrogate(Protocol):
    """A fitted model: what it predicts, and itself as a part of model.json."""

    @property
    def part(self) -> str:
        """The inference part that computes it."""

    def predict(self, rows: Array) -> Array:
        """Return predictions of rows (n, columns), shape (n,)."""

    def document(self, target: str, box: Box) -> Json:
        """Return what the inference part reads."""


Fit = Callable[[Box, Array, Array, int], Surrogate]


@frozen
class Setting:
    """One way to fit a surrogate, with the word that says which."""

    family: str
    words: str
    fit: Fit
    fits: Callable[[int], bool] = field(default=lambda rows: True)


def settings(families: Sequence[str], dimensions: int) -> list[Setting]:
    """Return what is compared: quick ones first."""
    found: Mapping[str, list[Setting]] = {
        "polynomial": [_polynomial(degree, dimensions) for degree in DEGREES],
        "gaussian_process": [Setting("gaussian_process", "Matérn 5/2", fit_gaussian)],
        "trees": [Setting("trees", "100 extremely randomised trees", fit_trees)],
    }
    return [one for family in found if family in families for one in found[family]]


def _polynomial(degree: int, dimensions: int) -> Setting:
    terms = math.comb(degree + dimensions, dimensions)

    def fit(box: Box, rows: Array, values: Array, seed: int) -> Surrogate:
        return fit_polynomial(box, rows, values, degree)

    return Setting(
        "polynomial", f"degree {degree}", fit, lambda count: count >= ROWS_PER_TERM * terms
    )


@frozen(eq=False)
class Polynomial:
    """A polynomial in columns scaled to -1..1."""

    box: Box
    terms: tuple[tuple[int, ...], ...]
    weights: Array
    part: str = "polynomial"

    def predict(self, rows: Array) -> Array:
        """Return predictions, shape (n,)."""
        return np.asarray(_powers(self.box, rows, self.terms) @ self.weights)

    def document(self, target: str, box: Box) -> Json:
        """Return the model as the inference part reads it."""
        model = PolynomialModel(
            target=target,
            columns=box.columns(),
            shift=self.box.middle.tolist(),
            scale=self.box.half.tolist(),
            terms=self.terms,
            intercepts=(float(self.weights[0]),),
            coefficients=(tuple(map(float, self.weights[1:])),),
        )
        return _document(model.kind, box, model.payload())


def fit_polynomial(box: Box, rows: Array, values: Array, degree: int) -> Surrogate:
    """Return the least-squares polynomial of a degree."""
    places = range(len(box.names))
    terms = tuple(
        term
        for length in range(1, degree + 1)
        for term in itertools.combinations_with_replacement(places, length)
    )
    weights = np.linalg.lstsq(_powers(box, rows, terms), values, rcond=1e-12)[0]
    return Polynomial(box, terms, np.asarray(weights, dtype=np.float64))


def _powers(box: Box, rows: Array, terms: Sequence[tuple[int, ...]]) -> Array:
    """Return 1 and the product of each term's columns, shape (n, 1 + terms)."""
    from sciharness_publisher.inference.polynomial import products

    scaled = (rows - box.middle) / box.half
    return np.vstack([np.ones(len(rows)), products(np.ascontiguousarray(scaled.T), terms)]).T


@frozen(eq=False)
class Gaussian:
    """A Gaussian process with a Matérn 5/2 kernel, as a sum over its points."""

    shift: Array
    scale: Array
    points: Array
    weights: Array
    mean: float
    part: str = "gaussian"

    def predict(self, rows: Array) -> Array:
        """Return predictions, shape (n,)."""
        from sciharness_file_solver.shipped.gaussian import build

        columns = [{"symbol": f"X{place + 1}"} for place in range(rows.shape[1])]
        model = {"kind": "gaussian_process", "columns": columns, **self._own()}
        return np.asarray(build(model)(_columns(rows)))

    def _own(self) -> Json:
        return {
            "kernel": "matern52",
            "mean": self.mean,
            "shift": self.shift.tolist(),
            "scale": self.scale.tolist(),
            "points": self.points.tolist(),
            "weights": self.weights.tolist(),
        }

    def document(self, target: str, box: Box) -> Json:
        """Return the model as the inference part reads it."""
        return _document("gaussian_process", box, self._own())


def fit_gaussian(box: Box, rows: Array, values: Array, seed: int) -> Surrogate:
    """Return a Gaussian process with length scales of the greatest likelihood."""
    from scipy.linalg import cho_factor, cho_solve
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    from sciharness_file_solver.shipped.gaussian import kernel

    if len(rows) > MOST_POINTS:
        chosen = np.random.default_rng(seed).choice(len(rows), MOST_POINTS, replace=False)
        rows, values = rows[chosen], values[chosen]
    unit = (rows - box.middle) / box.half
    mean, spread = float(values.mean()), float(values.std()) or 1.0
    aims = (values - mean) / spread
    some = np.random.default_rng(seed).permutation(len(rows))[:TUNED_ROWS]
    lengths = Matern(np.ones(unit.shape[1]), (0.02, 50.0), nu=2.5)
    wanted = ConstantKernel(1.0, (1e-3, 1e5)) * lengths + WhiteKernel(1e-6, (1e-10, 1e-1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a length scale at its limit is as good as any beyond
        tuned = GaussianProcessRegressor(wanted, random_state=seed).fit(unit[some], aims[some])
    found = np.exp(tuned.kernel_.theta)
    scale = np.atleast_1d(found[1:-1])
    points = unit / scale
    squares = (points**2).sum(axis=1)
    gram = kernel("matern52", squares[:, None] + squares - 2.0 * (points @ points.T))
    gram[np.diag_indices_from(gram)] = 1.0 + max(found[-1] / found[0], 1e-10)
    weights = cho_solve(cho_factor(gram), aims) * spread
    return Gaussian(box.middle, box.half * scale, points, weights, mean)


@frozen(eq=False)
class Forest:
    """The mean of decision trees."""

    model: Any  # Any: a fitted ExtraTreesRegressor, which has no stubs
    part: str = "trees"

    def predict(self, rows: Array) -> Array:
        """Return predictions, shape (n,)."""
        return np.asarray(self.model.predict(rows), dtype=np.float64)

    def document(self, target: str, box: Box) -> Json:
        """Return the model as the inference part reads it."""
        trees = tuple(_tree(one.tree_) for one in self.model.estimators_)
        made = TreesModel(
            target=target,
            columns=box.columns(),
            trees=trees,
            start=(0.0,),
            divisor=float(len(trees)),
            single_precision=True,
        )
        return _document(made.kind, box, made.payload())


def fit_trees(box: Box, rows: Array, values: Array, seed: int) -> Surrogate:
    """Return the mean of 100 extremely randomised trees."""
    from sklearn.ensemble import ExtraTreesRegressor

    model = ExtraTreesRegressor(100, min_samples_leaf=2, random_state=seed, n_jobs=1)
    return Forest(model.fit(rows, values))


def _tree(tree: Any) -> Tree:  # Any: scikit-learn's tree, whose nodes are in walking order
    inner = tree.children_left >= 0
    return Tree(
        feature=tuple(np.where(inner, tree.feature, -1).tolist()),
        threshold=tuple(tree.threshold[inner].tolist()),
        right=tuple(tree.children_right[inner].tolist()),
        value=tuple(tree.value[~inner, 0, 0].tolist()),
    )


def _columns(rows: Array) -> dict[str, Array]:
    return {f"X{place + 1}": column for place, column in enumerate(rows.T)}


def _document(kind: str, box: Box, own: Json) -> Json:
    columns = [{"name": one.name, "symbol": one.symbol} for one in box.columns()]
    return {"kind": kind, "columns": columns, **own}
