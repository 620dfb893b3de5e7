"""Networks from directories: weights of edges, own rates in large tables, what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from sciharness.errors import DataError
from sciharness.plugin import Context, Input
from sciharness_publisher.expression import parse
from sciharness_symbolic_regression.dynamics.request import DynamicsRequest
from sciharness_symbolic_regression.formulas.algebra import canonical
from sciharness_symbolic_regression.formulas.forms import constants
from sciharness_symbolic_regression.plugin import dynamics

QUICK = {"max_evaluations": 30_000, "restarts": 3, "stability_runs": 0}


def moved(slope, start, times):
    """Classical Runge-Kutta of fourth order, two steps between two times."""
    rows, now = [start], start
    for place, step in enumerate(np.diff(times) / 2):
        for part in (0, 1):
            at = times[place] + part * step
            one = slope(at, now)
            two = slope(at + step / 2, now + step / 2 * one)
            three = slope(at + step / 2, now + step / 2 * two)
            four = slope(at + step, now + step * three)
            now = now + step / 6 * (one + 2 * two + 2 * three + four)
        rows.append(now)
    return np.array(rows)


def constants_of(candidate):
    """The constants of a formula in its order, recognised ones among them."""
    return list(constants(canonical(parse(candidate["formula"]))))


def edges_of(nodes, count, random):
    pairs = np.array([(i, j) for i in range(nodes) for j in range(nodes) if i != j])
    return pairs[np.sort(random.choice(len(pairs), count, replace=False))]


def write(folder: Path, arrays, axes, *, relations=("A",), structures=(), nodes=None):
    """Write arrays as a context.data directory; axes by variable, time as a file."""
    folder.mkdir()
    manifest = {"variables": {}, "axes": {}}
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)
        if name == "time":
            continue
        about = {"file": f"{name}.npy", "description": name, "axes": axes[name]}
        about |= {"kind": "relation"} if name in relations else {}
        about |= {"structure": "A"} if name in structures else {}
        manifest["variables"][name] = about
        for axis, length in zip(axes[name], values.shape, strict=True):
            known = {"size": length, "description": axis}
            if axis == "time":
                known = {"file": "time.npy", "description": "Time."}
            elif axis == "endpoint":
                known = {"values": ["target", "source"], "description": "Order."}
            manifest["axes"][axis] = known
    if nodes is not None:
        manifest["num_nodes"] = nodes
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return folder


AXES = {
    "x": ["time", "node"],
    "A": ["edge", "endpoint"],
    "w": ["edge"],
    "v": ["time", "edge"],
}


@pytest.fixture
def find(tmp_path):
    """Run the operation on a folder; returns the chosen candidate, its document and notes."""

    def run(folder, name="out", **request):
        given = Input("data", folder, "directory_bundle", "context_data")
        context = Context(inputs={"data": given}, workspace=tmp_path / name, workers=2)
        outcome = dynamics(DynamicsRequest(**{**QUICK, **request}), context)
        outputs = context.workspace / "outputs"
        formulas = json.loads((outputs / "formulas.json").read_text("utf-8"))
        described = json.loads((outputs / "dynamics.json").read_text("utf-8"))
        return formulas["candidates"][formulas["chosen"]], described, outcome.notes

    return run


def weighted_network(random, nodes=12, count=40, times=161):
    """Times, values and edges of dx_i/dt = -0.7 x_i + 0.5 sum_j w_ij tanh(x_j - x_i), and w."""
    ends, weights = edges_of(nodes, count, random), random.uniform(0.2, 3.0, count)
    target, source = ends.T
    time = np.linspace(0, 4, times)

    def slope(at, now):
        pull = weights * np.tanh(now[source] - now[target])
        return -0.7 * now + 0.5 * np.bincount(target, pull, nodes)

    return time, moved(slope, random.uniform(-4, 4, nodes), time), ends, weights


def test_weights_of_edges_count_and_the_coupling_is_found(find, tmp_path):
    time, x, ends, weights = weighted_network(np.random.default_rng(2))
    arrays = {"x": x, "time": time, "A": ends, "w": weights}
    folder = write(tmp_path / "data", arrays, AXES, structures=("w",), nodes=12)

    terms = {"terms": ("diff", "tanh_diff", "source"), "own_rates": "no"}
    chosen, described, _ = find(folder, **terms)
    alike, beside, _ = find(folder, "alike", weighted=False, **terms)

    assert described["edge_weight"] == "w"
    assert "w times tanh(x_j - x_i)" in described["columns"]["sum_tanh_diff"]
    assert chosen["structure"] == "C*sum_tanh_diff + C*x"
    # slopes of splines through 161 exact points of a motion over some time constants
    assert constants_of(chosen) == pytest.approx([0.5, -0.7], rel=2e-3)
    assert beside["edge_weight"] is None
    error = "relative_rmse"
    assert alike["metrics"]["validation"][error] > 10 * chosen["metrics"]["validation"][error]


def test_weights_may_change_along_time():
    from sciharness_symbolic_regression.dynamics.relations import read_relation
    from sciharness_symbolic_regression.dynamics.sums import sums_over

    random = np.random.default_rng(0)
    x, weights = random.normal(0, 1, (5, 3)), random.uniform(0, 2, (5, 2))
    loaded = {
        "data": {"A": np.array([[0, 1], [0, 2]]), "v": weights},
        "variable_axes": {"A": ["edge", "end"], "v": ["time", "edge"]},
        "relation_names": ["A"],
        "structures": {"v": "A"},
    }

    found = dict(sums_over(read_relation(loaded, "A", "auto"), x, ["diff_cubed", "degree"]))

    steps = np.column_stack([x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]])
    assert np.allclose(found["diff_cubed"].values[:, 0], (weights * steps**3).sum(axis=1))
    assert np.allclose(found["degree"].values[:, 0], weights.sum(axis=1))
    # slopes of each term by its own end; step of differences 1e-5, third derivatives of order 10
    assert np.allclose(
        found["diff_cubed"].own[:, 0], (weights * -3 * steps**2).sum(axis=1), atol=1e-6
    )


def phases(random, nodes, count, times):
    ends, rates = edges_of(nodes, count, random), random.normal(1.0, 0.4, nodes)
    target, source = ends.T
    time = np.linspace(0, times / 40, times)

    def slope(at, now):
        return rates + 0.3 * np.bincount(target, np.sin(now[source] - now[target]), nodes)

    return time, moved(slope, random.uniform(0, 2 * np.pi, nodes), time), ends, rates


@pytest.mark.slow
def test_own_rates_of_200_nodes_at_500_times_are_told_apart(find, tmp_path):
    random = np.random.default_rng(5)
    time, x, ends, rates = phases(random, 200, 1200, 500)
    measured = x + random.normal(0, 0.02, x.shape)
    arrays = {"x": measured, "time": time, "A": ends}
    folder = write(tmp_path / "data", arrays, AXES, nodes=200)

    chosen, described, _ = find(folder)

    assert described["rates"] == "weak"
    assert chosen["structure"] == "C*own_rate + C*sum_sin_diff"
    # 200 series over 12.5 time units, each end known to 0.02: a rate to 0.004, the coupling
    # from 200 of them far better; what windows add by smoothing is below a hundredth
    assert constants_of(chosen)[1] == pytest.approx(0.3, rel=0.01)
    assert np.abs(np.array(described["own_rates"]) - rates).max() < 0.05


def test_every_node_keeps_its_rows_in_a_table_that_is_cut():
    from sciharness_symbolic_regression.dynamics.samples import MOST_CELLS, _kept

    rows, nodes = _kept(np.arange(1000), 400)

    # every second cell of a table of an even width would be every second node
    assert len(nodes) == 400
    assert len(rows) == MOST_CELLS // 400
    few, some = _kept(np.arange(1000), 100_000)
    assert len(few) * len(some) <= MOST_CELLS
    assert len(few) >= 50


def network_of(random, **changes):
    """Arrays of a small sound network, changed."""
    time, x, ends, _ = phases(random, 6, 12, 60)
    arrays = {"x": x, "time": time, "A": ends, "w": np.ones(len(ends))}
    for name, change in changes.items():
        arrays[name] = change(arrays[name].copy())
    return arrays


def still(values):
    values[:, 3] = 1.5
    return values


def holed(values):
    values[7, 2] = np.nan
    return values


def back(values):
    values[[4, 5]] = values[[5, 4]]
    return values


def gap(values):
    values[30:] += 100
    return values


def uneven(values):
    values[30:] += 7 * (values[1] - values[0])
    return values


def unknown(values):
    values[2] = np.inf
    return values


REFUSED = [
    pytest.param({"x": holed}, {}, r"1 that are not, the first one \(nan\) at time", id="nan"),
    pytest.param({"time": back}, {}, r"growing numbers, found .* \(entries 4 and 5\)", id="order"),
    pytest.param({"time": gap}, {}, "steps of time alike, found one of 100", id="gap"),
    pytest.param({"time": uneven}, {"rates": "weak"}, "8 times the usual one", id="uneven"),
    pytest.param({"x": still}, {}, "constant ones at 1 of 6 nodes: 3", id="constant"),
    pytest.param({"x": np.zeros_like}, {}, "found constant ones$", id="all-constant"),
    pytest.param({"w": unknown}, {}, "1 that are not", id="weight"),
    pytest.param({}, {"edge_weight": "b"}, "edge_weight to name one of w, found 'b'", id="no-w"),
    pytest.param({}, {"relation": "B"}, "expected relation to name one of A", id="no-relation"),
]


@pytest.mark.parametrize(("changes", "request_", "message"), REFUSED)
def test_what_cannot_be_searched_is_told(find, tmp_path, changes, request_, message):
    arrays = network_of(np.random.default_rng(1), **changes)
    folder = write(tmp_path / "data", arrays, AXES, structures=("w",), nodes=6)

    with pytest.raises(DataError, match=message):
        find(folder, **request_)
    assert not (tmp_path / "out" / "outputs" / "formulas.json").exists()


def test_too_few_times_are_told(find, tmp_path):
    few = network_of(np.random.default_rng(1), x=lambda x: x[:6], time=lambda t: t[:6])
    folder = write(tmp_path / "a", few, AXES, structures=("w",), nodes=6)
    short = network_of(np.random.default_rng(1), x=lambda x: x[:30], time=lambda t: t[:30])
    other = write(tmp_path / "b", short, AXES, structures=("w",), nodes=6)

    with pytest.raises(DataError, match="at least 8 times, found 6"):
        find(folder, "a_out")
    with pytest.raises(DataError, match="at least 40 times for windows, found 30"):
        find(other, "b_out", rates="weak")


def test_missing_edges_are_told(find, tmp_path):
    arrays = network_of(np.random.default_rng(1))
    bare = {name: arrays[name] for name in ("x", "time")}
    folder = write(tmp_path / "bare", bare, AXES)
    smaller = {**bare, "x": bare["x"][:, :5], "A": np.array([[0, 5], [1, 2]])}
    other = write(tmp_path / "smaller", smaller, AXES, nodes=6)

    with pytest.raises(DataError, match="a relation to sum over, found none"):
        find(folder, "a_out", terms=("sin_diff",))
    with pytest.raises(DataError, match="the 6 nodes of the relations, found 5"):
        find(other, "b_out")


def test_no_edges_are_told():
    from sciharness_symbolic_regression.dynamics.relations import read_relation

    loaded = {
        "data": {"A": np.zeros((0, 2), int)},
        "variable_axes": {"A": ["edge", "end"]},
        "relation_names": ["A"],
    }

    with pytest.raises(DataError, match="at least one edge, found none"):
        read_relation(loaded, "A", "auto")


def test_constant_nodes_may_be_left_out_and_stay_neighbours(find, tmp_path):
    random = np.random.default_rng(1)
    ends = edges_of(6, 14, random)
    target, source = ends.T
    time = np.linspace(0, 3, 80)
    held = np.array([False] * 5 + [True])

    def slope(at, now):
        rate = 0.8 * np.bincount(target, now[source] - now[target], 6)
        return np.where(held, 0.0, rate)

    x = moved(slope, random.uniform(-2, 2, 6), time)
    x[:, ~held] += random.normal(0, 0.005, (80, 5))
    folder = write(tmp_path / "data", {"x": x, "time": time, "A": ends}, AXES, nodes=6)

    chosen, described, notes = find(
        folder, constant_nodes="leave_out", terms=("diff",), own_rates="no"
    )

    assert described["nodes"] == 5
    assert described["node_names"] == ["0", "1", "2", "3", "4"]
    assert any(re.search("never change: 5", note) for note in notes)
    assert chosen["structure"] == "C*sum_diff"
    # 5 series that start some hundred times their noise from rest
    assert constants_of(chosen)[0] == pytest.approx(0.8, rel=0.01)
