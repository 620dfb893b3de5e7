"""Ridge and logistic regression on products of scaled columns."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from attrs import frozen

from sciharness_publisher.families import PolynomialModel
from sciharness_publisher.inference.polynomial import products
from sciharness_tabular.families.base import FitRecord, Frame, Means, Setting, Trial, aligned
from sciharness_tabular.rows import Array, Rows
from sciharness_tabular.scaling import Scaling, scaling_of

Term = tuple[int, ...]

MOST_TERMS = 500
MOST_CELLS = 12_000_000  # of products in memory at once: 96 MB
MANY_ROWS = 20  # rows per term from which the penalty hardly matters
RIDGE = (1e-8, 1e-6, 1e-4, 1e-2, 1e-1, 1.0)
LOGISTIC = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
CUBIC = 3


@frozen
class Polynomials:
    """Linear models on all products of up to ``degree`` columns.

    The penalty is a share of the rows. With many rows per term the least
    penalty is the only setting; else all are compared.
    """

    name: str
    degree: int

    def reason_against(self, rows: Rows) -> str:
        """Return why there would be too many terms, or for which task it is not meant."""
        if rows.classes and self.degree >= CUBIC:
            return "for regression only"
        terms = math.comb(rows.features.shape[1] + self.degree, self.degree) - 1
        most = min(MOST_TERMS, rows.count)
        if self.degree > 1 and terms > most:
            return f"{terms} terms, at most {most} for {rows.count} rows"
        return ""

    def trials(self, rows: Rows, held_out: Array, means: Means) -> Iterator[Trial]:
        """Yield one fit for each penalty."""
        terms = _terms(rows.features.shape[1], self.degree)
        rows = rows.thinned(max(MOST_CELLS // len(terms), 1), means.seed)
        design = _design(rows, terms)
        aside = _products(design.scaling, held_out, terms)
        for penalty in _penalties(rows, len(terms)):
            fitted = _fitted(design, rows, penalty)
            yield Trial(fitted.record, (({"penalty": penalty}, fitted.outputs_of(aside)),))

    def fit(self, rows: Rows, setting: Setting, means: Means) -> FittedPolynomial:
        """Return the fit under one penalty."""
        terms = _terms(rows.features.shape[1], self.degree)
        rows = rows.thinned(max(MOST_CELLS // len(terms), 1), means.seed)
        return _fitted(_design(rows, terms), rows, float(setting["penalty"]))


@frozen(eq=False)
class _Design:
    scaling: Scaling
    terms: tuple[Term, ...]
    products: Array


@frozen(eq=False)
class FittedPolynomial:
    """A ridge or logistic regression of scikit-learn on products of scaled columns."""

    estimator: Any  # Any: scikit-learn is untyped
    scaling: Scaling
    terms: tuple[Term, ...]
    rows: Rows
    record: FitRecord

    def outputs(self, features: Array) -> Array:
        """Return the scaled target, or a probability per class."""
        return self.outputs_of(_products(self.scaling, features, self.terms))

    def outputs_of(self, columns: Array) -> Array:
        """Return the same for products that were already formed, shape (rows, terms)."""
        if not self.rows.classes:
            return np.asarray(self.estimator.predict(columns), dtype=np.float64)[:, None]
        chances = self.estimator.predict_proba(columns)
        return aligned(chances, self.estimator.classes_, len(self.rows.classes))

    def model(self, frame: Frame) -> PolynomialModel:
        """Return the model in the unit of the target."""
        centre, spread = (0.0, 1.0) if self.rows.classes else (self.rows.centre, self.rows.spread)
        coefficients = np.atleast_2d(self.estimator.coef_) * spread
        intercepts = np.atleast_1d(self.estimator.intercept_) * spread + centre
        classes = len(self.rows.classes)
        return PolynomialModel(
            target=frame.target,
            columns=frame.columns,
            shift=self.scaling.shift.tolist(),
            scale=self.scaling.scale.tolist(),
            terms=self.terms,
            intercepts=intercepts.tolist(),
            coefficients=tuple(map(tuple, coefficients.tolist())),
            link="identity" if not classes else "sigmoid" if classes == 2 else "softmax",
            unit=frame.unit,
            out_of_domain=frame.out_of_domain,
            interval=frame.interval,
        )


def _terms(columns: int, degree: int) -> tuple[Term, ...]:
    """Return all products of up to ``degree`` columns, simplest first."""
    sizes = range(1, degree + 1)
    return tuple(
        term for size in sizes for term in combinations_with_replacement(range(columns), size)
    )


def _design(rows: Rows, terms: tuple[Term, ...]) -> _Design:
    scaling = scaling_of(rows.features)
    return _Design(scaling, terms, _products(scaling, rows.features, terms))


def _products(scaling: Scaling, features: Array, terms: tuple[Term, ...]) -> Array:
    """Return the products of scaled columns, shape (rows, terms)."""
    return products(scaling.columns(features), terms).T


def _penalties(rows: Rows, terms: int) -> tuple[float, ...]:
    every = LOGISTIC if rows.classes else RIDGE
    return every[:1] if rows.count >= MANY_ROWS * terms * max(len(rows.classes), 1) else every


def _fitted(design: _Design, rows: Rows, penalty: float) -> FittedPolynomial:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression, Ridge

    strength = penalty * rows.count
    if rows.classes:
        parameters: dict[str, Any] = {"C": 1.0 / strength, "max_iter": 1000}  # Any: JSON values
        estimator = LogisticRegression(**parameters)
    else:
        parameters = {"alpha": strength, "solver": "cholesky"}
        estimator = Ridge(**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # judged by held-out rows anyway
        estimator.fit(design.products, rows.target, sample_weight=rows.sample_weight)
    name = f"sklearn.linear_model.{type(estimator).__name__}"
    record = FitRecord(name, parameters, rows.count, len(design.terms))
    return FittedPolynomial(estimator, design.scaling, design.terms, rows, record)
