"""The noise of a target, told from the rows alone; weights and errors that count."""

from __future__ import annotations

import numpy as np
import pytest

from sciharness_symbolic_regression.samples.noise import Noise, noise_of, sentence
from sciharness_symbolic_regression.samples.sample import Sample


def sample(x, y, **more):
    return Sample({"x": x, **more}, y, np.ones(len(y)))


def test_repeated_rows_tell_the_noise():
    random = np.random.default_rng(0)
    x = np.repeat(np.linspace(1, 9, 40), 5)
    found = noise_of(sample(x, np.sin(x) + random.normal(0, 0.3, 200)))

    assert found.source == "repeated rows"
    # the deviation of a deviation from 160 degrees of freedom is 1/sqrt(320); four of them
    assert found.level == pytest.approx(0.3, rel=4 / np.sqrt(320))


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.5])
def test_neighbouring_rows_tell_about_how_much_it_is(noise):
    random = np.random.default_rng(1)
    x, z = random.uniform(0, 3, (2, 1500))
    y = np.sin(x) * z
    found = noise_of(sample(x, y + random.normal(0, noise, 1500), z=z))

    assert found.source == "neighbouring rows"
    # neighbours are about 0.03 apart in units of the spread, where the target moves by as much
    assert noise * 0.8 <= found.level <= noise * 1.2 + 0.03


def test_where_rows_cannot_tell_nothing_is_said():
    random = np.random.default_rng(2)
    x = random.uniform(0, 3, 30)
    many = {f"c{i}": random.uniform(0, 1, 200) for i in range(9)}

    assert noise_of(sample(x, x)) is None
    assert noise_of(Sample(many, many["c0"], np.ones(200))) is None


def test_only_repeated_rows_accuse_a_formula():
    assert "may follow the noise" in sentence(Noise(1.0, "repeated rows"), 0.1)
    assert sentence(Noise(1.0, "repeated rows"), 0.9) == ""
    assert sentence(Noise(1.0, "neighbouring rows"), 0.1) == ""
    assert sentence(None, 0.1) == ""


def test_formulas_json_tells_the_noise(run_search):
    random = np.random.default_rng(3)
    x = np.repeat(np.linspace(1, 4, 20), 4)

    run = run_search({"x": x, "y": 2 * x + random.normal(0, 0.2, 80)}, max_evaluations=12_000)

    assert run.formulas["noise"]["source"] == "repeated rows"
    assert run.formulas["noise"]["level"] == pytest.approx(0.2, rel=0.4)


@pytest.mark.parametrize("role", ["sigma", "weights"])
def test_rows_of_little_weight_do_not_bend_the_formula(run_search, role):
    random = np.random.default_rng(4)
    x = random.uniform(1, 5, 80)
    bad = np.arange(80) % 4 == 0
    y = 3 * x + random.normal(0, 0.01, 80) + np.where(bad, random.normal(20, 5, 80), 0.0)
    how = np.where(bad, 1e4, 0.01) if role == "sigma" else np.where(bad, 1e-9, 1.0)
    table = {"x": x, "how": how, "y": y}

    used = run_search(table, name="used", roles={role: "how"}, max_evaluations=20_000)
    unused = run_search({"x": x, "y": y}, name="unused", max_evaluations=20_000)

    assert used.chosen["structure"] == "C*x"
    # 60 rows with an error of 0.01 each
    assert used.values == [pytest.approx(3.0, abs=0.01)]
    assert unused.chosen["structure"] != "C*x" or (abs(unused.values[0] - 3.0) > 0.1)
