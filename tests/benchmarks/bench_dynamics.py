"""Constants of laws of motion from noisy series: averages over windows beside slopes of splines.

python -m pytest -s -m slow tests/benchmarks/bench_dynamics.py

The structure is given, so only the way to the constants differs. Errors are
relative, root mean square over constants and seeds; noise is a share of the
root mean square of each measured series.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from sciharness_publisher.expression import parse
from sciharness_symbolic_regression.dynamics.operation import with_own_rates
from sciharness_symbolic_regression.dynamics.relations import Relation
from sciharness_symbolic_regression.dynamics.request import DynamicsRequest
from sciharness_symbolic_regression.dynamics.samples import Samples, samples_of
from sciharness_symbolic_regression.dynamics.series import Series
from sciharness_symbolic_regression.dynamics.weak import WeakForm
from sciharness_symbolic_regression.finishing.credibility import intervals
from sciharness_symbolic_regression.finishing.fitting import fit
from sciharness_symbolic_regression.formulas.algebra import canonical
from sciharness_symbolic_regression.formulas.forms import constants
from sciharness_symbolic_regression.samples.sample import Sample

pytestmark = pytest.mark.slow

SEEDS = 8 if os.environ.get("SCIHARNESS_BENCH_QUICK") else 60
NOISES = (0.01, 0.05, 0.1)


def _logistic(now):
    return 1.2 * now - 0.24 * now**2


def _hunted(now):
    x, y = now
    return np.array([1.1 * x - 0.4 * x * y, 0.1 * x * y - 0.4 * y])


def _relaxing(now):
    x, v = now
    return np.array([v, 1.5 * v - 1.5 * x**2 * v - x])


SYSTEMS = {
    "logistic": (_logistic, [0.2], 10, 150, {"x": "1.2*x - 0.24*x**2"}),
    "Lotka-Volterra": (
        _hunted, [8.0, 2.0], 20, 300, {"x": "1.1*x - 0.4*x*y", "y": "0.1*x*y - 0.4*y"},
    ),
    "Van der Pol": (_relaxing, [1.0, 0.0], 20, 400, {"y": "1.5*y - 1.5*x**2*y - 1.0*x"}),
}  # fmt: skip


@pytest.mark.parametrize("system", SYSTEMS)
def test_windows_beside_slopes(system):
    slope, start, end, count, laws = SYSTEMS[system]
    times = np.linspace(0, end, count)
    exact = _moved(slope, np.array(start), times)
    print()
    for noise in NOISES:
        for name, law in laws.items():
            runs = [_compared(times, exact, name, law, noise, seed) for seed in range(SEEDS)]
            slopes, weak, held, holds = (np.array(part) for part in zip(*runs, strict=True))
            errors = [float(np.sqrt(np.square(one).mean())) for one in (slopes, weak)]
            print(
                f"{system} d{name}/dt, noise {noise:g}: slopes {errors[0]:.4f} (intervals hold "
                f"{held.mean():.0%}), windows {errors[1]:.4f} ({holds.mean():.0%}), "
                f"ratio {errors[0] / errors[1]:.2f}"
            )
            assert errors[1] < 1.1 * errors[0]


def test_windows_beside_slopes_of_a_network():
    random = np.random.default_rng(0)
    nodes, coupling = 12, 0.6
    pairs = np.array([(i, j) for i in range(nodes) for j in range(nodes) if i != j])
    target, source = pairs[np.sort(random.choice(len(pairs), 40, replace=False))].T
    own = random.normal(1.0, 0.3, nodes)
    relation = Relation("A", target, source[:, None], np.ones((1, 40)))

    def slope(now):
        return own + coupling * np.bincount(target, np.sin(now[source] - now[target]), nodes)

    times = np.linspace(0, 6, 121)
    exact = _moved(slope, random.uniform(0, 2 * np.pi, nodes), times)
    form = canonical(parse("1.0*own_rate + 0.6*sum_sin_diff"))
    names = tuple(str(place) for place in range(nodes))
    print()
    for noise in NOISES:
        errors = []
        for seed in range(SEEDS // 3):
            measured = exact + np.random.default_rng([seed, 7]).normal(0, noise, exact.shape)
            series = Series("x", times, measured, {}, frozenset(), "node", names)
            request = DynamicsRequest(terms=("diff", "sin_diff", "source"))
            samples = samples_of(series, relation, request, np.arange(nodes))
            plain, _ = with_own_rates(samples, "yes", False)
            fitted = fit(form, _table(plain))
            assert fitted is not None
            windowed, _ = with_own_rates(samples, "yes", True)
            found, _ = WeakForm.of(windowed, 0.25, 0, "squared", "own_rate").final(form)
            errors.append([constants(one)[1] / coupling - 1 for one in (fitted, found)])
        slopes, weak = np.sqrt(np.square(errors).mean(axis=0)).tolist()
        print(
            f"Kuramoto coupling, noise {noise:g} rad: slopes {slopes:.4f}, windows {weak:.4f}, "
            f"ratio {slopes / weak:.2f}"
        )
        assert weak < 1.1 * slopes


def _compared(times, exact, name, law, noise, seed):
    """Relative errors and hits of intervals: of slopes, of windows."""
    shaken = np.random.default_rng([seed, len(times)]).normal(0, noise, exact.shape)
    samples = _samples(times, exact + shaken * np.sqrt((exact**2).mean(axis=0)), name)
    form = canonical(parse(law))
    wanted = np.array(constants(form))
    rows = _table(samples)
    fitted = fit(form, rows)
    assert fitted is not None
    _, found = WeakForm.of(samples, 0.25, 0, "squared").final(form)
    by_slopes, in_windows = np.array(constants(fitted)), np.array([one.value for one in found])
    hits = [
        [one.low <= value <= one.high for one, value in zip(many, wanted, strict=True)]
        for many in (intervals(fitted, rows), found)
    ]
    return by_slopes / wanted - 1, in_windows / wanted - 1, *hits


def _table(samples: Samples) -> Sample:
    inner = samples.inner
    table = {
        key: np.ascontiguousarray(one.values[inner].ravel()) for key, one in samples.columns.items()
    }
    return Sample(table, samples.rates[inner].ravel(), np.ones(samples.rates[inner].size))


def _samples(times, measured, name) -> Samples:
    names = ["x", "y"][: measured.shape[1]]
    series = {one: measured[:, [place]] for place, one in enumerate(names)}
    mine = series.pop(name)
    return samples_of(
        Series(name, times, mine, series, frozenset(series), None, ("",)),
        None,
        DynamicsRequest(),
        np.arange(1),
    )


def _moved(slope, start, times):
    """Classical Runge-Kutta of fourth order, eight steps between two times."""
    rows, now = [start], start
    for step in np.diff(times) / 8:
        for _ in range(8):
            one = slope(now)
            two = slope(now + step / 2 * one)
            three = slope(now + step / 2 * two)
            four = slope(now + step * three)
            now = now + step / 6 * (one + 2 * two + 2 * three + four)
        rows.append(now)
    return np.array(rows)
