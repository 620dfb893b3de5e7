"""Laws of motion from directories: couplings of networks, pairs of equations, clear refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from sciharness.errors import DataError
from sciharness.plugin import Context, Input
from sciharness_publisher.expression import parse
from sciharness_symbolic_regression.dynamics.request import DynamicsRequest
from sciharness_symbolic_regression.formulas.algebra import canonical
from sciharness_symbolic_regression.formulas.forms import constants
from sciharness_symbolic_regression.plugin import dynamics

EXAMPLES = Path(__file__).parents[2] / "examples" / "data"
QUICK = {"max_evaluations": 45_000, "restarts": 3, "stability_runs": 0}


def integrated(slope, start, times):
    """Classical Runge-Kutta of fourth order, four steps between two times."""
    rows, now = [start], start
    for step in np.diff(times) / 4:
        for _ in range(4):
            one = slope(now)
            two = slope(now + step / 2 * one)
            three = slope(now + step / 2 * two)
            four = slope(now + step * three)
            now = now + step / 6 * (one + 2 * two + 2 * three + four)
        rows.append(now)
    return np.array(rows)


def network(rule, *, nodes=12, edges=40, times=121, end=6.0, seed=0, low=0.2, high=3.0):
    """Values (times, nodes) of dx_i/dt = rule(x_i, sum over j of pull), and edges (i, j)."""
    random = np.random.default_rng(seed)
    pairs = np.array([(i, j) for i in range(nodes) for j in range(nodes) if i != j])
    ends = pairs[np.sort(random.choice(len(pairs), edges, replace=False))]
    target, source = ends.T
    own, pull = rule(random, nodes)

    def slope(now):
        total = np.bincount(target, pull(now[target], now[source]), minlength=nodes)
        return own(now) + total

    time = np.linspace(0, end, times)
    return time, integrated(slope, random.uniform(low, high, nodes), time), ends


@pytest.fixture
def directory(tmp_path):
    """Write arrays as a context.data directory."""

    def write(time, variables, ends=None, endpoint=("target", "source"), name="run"):
        folder = tmp_path / f"{name}_data"
        folder.mkdir()
        nodes = next(iter(variables.values())).shape[1:]
        axes = {"time": {"file": "time.npy", "description": "Time in seconds."}}
        np.save(folder / "time.npy", time)
        manifest = {"variables": {}, "axes": axes}
        for key, values in variables.items():
            np.save(folder / f"{key}.npy", values)
            along = ["time", "node"][: values.ndim]
            about = {"file": f"{key}.npy", "description": f"{key}.", "axes": along}
            manifest["variables"][key] = about
        if nodes:
            axes["node"] = {"size": nodes[0], "description": "Node."}
        if ends is not None:
            np.save(folder / "A.npy", ends)
            axes["edge"] = {"size": len(ends), "description": "Edge."}
            axes["endpoint"] = {"values": list(endpoint), "description": "Order."}
            about = {"file": "A.npy", "description": "Edges.", "axes": ["edge", "endpoint"]}
            manifest["variables"]["A"] = about | {"kind": "relation"}
            manifest["num_nodes"] = nodes[0]
        (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        return folder

    return write


def constants_of(candidate):
    """The constants of a formula in its order, recognised ones among them."""
    return constants(canonical(parse(candidate["formula"])))


@pytest.fixture
def find(tmp_path):
    """Run the operation on a folder; returns the chosen candidate, its document and outcome."""

    def run(folder, name="out", **request):
        given = Input("data", folder, "directory_bundle", "context_data")
        context = Context(inputs={"data": given}, workspace=tmp_path / name, workers=2)
        outcome = dynamics(DynamicsRequest(**{**QUICK, **request}), context)
        outputs = context.workspace / "outputs"
        assert set(context.outputs) == {path.name for path in outputs.iterdir()}
        formulas = json.loads((outputs / "formulas.json").read_text("utf-8"))
        described = json.loads((outputs / "dynamics.json").read_text("utf-8"))
        return formulas["candidates"][formulas["chosen"]], described, outcome

    return run


def kuramoto(random, nodes):
    rates = random.normal(1.0, 0.3, nodes)
    return lambda now: rates, lambda own, other: 0.6 * np.sin(other - own)


def test_the_coupling_of_the_example_network_is_recovered(find):
    chosen, described, outcome = find(EXAMPLES / "oscillator_network")

    assert chosen["structure"] == "C*own_rate + C*sum_sin_diff"
    # the example is made with a coupling of 0.6; splines of 201 exact points are far better
    assert constants_of(chosen)[1] == pytest.approx(0.6, rel=1e-3)
    assert len(described["own_rates"]) == 10
    assert any("sin(x_j - x_i)" in note for note in outcome.notes)


def test_it_is_recovered_from_measured_phases(find, directory):
    time, phases, ends = network(kuramoto, seed=3)
    noisy = phases + np.random.default_rng(1).normal(0, 0.01, phases.shape)

    chosen, _, _ = find(directory(time, {"theta": noisy}, ends))

    assert chosen["structure"] == "C*own_rate + C*sum_sin_diff"
    # slopes of 1440 points with errors of about 0.05 after smoothing, pull of order one
    assert constants_of(chosen)[1] == pytest.approx(0.6, rel=0.02)


@pytest.mark.slow
def test_the_orientation_of_edges_matters(find, directory):
    time, phases, ends = network(kuramoto, seed=3)
    turned = ends[:, ::-1]

    right, _, _ = find(directory(time, {"x": phases}, turned, ("source", "target")), "right")
    wrong, _, _ = find(
        directory(time, {"x": phases}, ends, name="wrong"), "w", orientation="source_first"
    )

    assert right["structure"] == "C*own_rate + C*sum_sin_diff"
    assert wrong["metrics"]["validation"]["r2"] < right["metrics"]["validation"]["r2"] - 0.01


def spreading(random, nodes):
    return lambda now: -0.5 * now, lambda own, other: 0.3 * (1 - own) * other


@pytest.mark.slow
def test_a_sum_times_a_function_of_the_node_is_found(find, directory):
    time, values, ends = network(spreading, seed=1, low=0.02, high=0.3, end=5.0)

    folder = directory(time, {"x": values}, ends)
    chosen, described, _ = find(folder, own_rates="no", terms=("source", "degree"))

    # 0.3*(1 - x)*sum x_j - 0.5*x
    assert chosen["metrics"]["validation"]["r2"] > 0.9999
    assert chosen["structure"] in {
        "C*sum_source + C*sum_source*x + C*x",
        "C*(sum_source + C*sum_source*x + C*x)",
        "C*(x + C)*sum_source + C*x",
    }
    assert list(described["columns"]) == ["x", "sum_source", "degree"]
    assert described["own_rates"] is None


def test_a_pair_of_equations_is_found_one_at_a_time(find, directory):
    time = np.linspace(0, 12, 300)
    both = integrated(
        lambda now: np.array(
            [1.1 * now[0] - 0.4 * now[0] * now[1], 0.1 * now[0] * now[1] - 0.4 * now[1]]
        ),
        np.array([8.0, 2.0]),
        time,
    )
    folder = directory(time, {"prey": both[:, 0], "hunter": both[:, 1]})

    prey, _, _ = find(folder, "prey", variable="prey")
    hunter, _, _ = find(folder, "hunter", variable="hunter")

    assert prey["structure"] in {"C*hunter*prey + C*prey", "C*(hunter + C)*prey"}
    assert constants_of(prey)[0] == pytest.approx(-0.4, rel=0.01)
    assert hunter["structure"] in {"C*hunter + C*hunter*prey", "C*(prey + C)*hunter"}


@pytest.mark.slow
def test_angles_that_jump_are_taken_as_they_turn(find, directory):
    time, phases, ends = network(kuramoto, seed=3)
    wrapped = np.mod(phases, 2 * np.pi)
    assert np.abs(np.diff(wrapped, axis=0)).max() > 3  # it does jump

    chosen, _, _ = find(directory(time, {"theta": wrapped}, ends), wrapped=True)

    assert chosen["structure"] == "C*own_rate + C*sum_sin_diff"


REFUSED = [
    ({"variable": "nothing"}, "expected variable to name one of"),
    ({"time": "week"}, "week"),
    ({"relation": "B"}, "expected relation to name one of A"),
    ({"variable": None}, "expected variable to name one of"),
]


@pytest.mark.parametrize(("request_", "message"), REFUSED)
def test_what_is_not_there_is_told(find, directory, request_, message):
    time, phases, ends = network(kuramoto, times=20)
    folder = directory(time, {"x": phases, "y": phases}, ends)

    with pytest.raises(DataError, match=message):
        find(folder, **{"variable": "x", **request_})


def test_times_have_to_grow_and_numbers_to_be_finite(find, directory):
    time, phases, ends = network(kuramoto, times=20)
    back = directory(time[::-1].copy(), {"x": phases}, ends, name="a")
    phases[3, 2] = np.nan
    broken = directory(time, {"x": phases}, ends, name="b")

    with pytest.raises(DataError, match="growing"):
        find(back, "a")
    with pytest.raises(DataError, match="finite"):
        find(broken, "b")


def test_a_known_error_of_the_rates_makes_smaller_misfits_equal():
    from sciharness_symbolic_regression.samples.sample import Sample

    sample = Sample({"x": np.arange(9.0)}, np.arange(9.0), np.ones(9))

    assert sample.noise_floor < 1e-8
    assert evolve(sample, noise=0.1).take(np.arange(5)).noise_floor == 0.1


def test_sums_over_edges_and_triples_are_those_of_their_definition():
    from sciharness_symbolic_regression.dynamics.relations import read_relation
    from sciharness_symbolic_regression.dynamics.sums import sums_over

    random = np.random.default_rng(0)
    x = random.normal(0, 1, (3, 4))
    pairs = np.array([[0, 1], [0, 2], [3, 0], [0, 1]])
    triples = np.array([[0, 1, 2], [3, 0, 1]])
    loaded = {
        "data": {"A": pairs, "B": triples},
        "variable_axes": {"A": ["edge", "end"], "B": ["face", "corner"]},
        "relation_names": ["A", "B"],
    }

    pairs_of = sums_over(read_relation(loaded, "A", "auto"), x, ["sin_diff", "degree"])
    two = {term: one.values for term, one in pairs_of}
    triples_of = sums_over(read_relation(loaded, "B", "auto"), x, None)
    three = {term: one.values for term, one in triples_of}

    assert list(two) == ["sin_diff", "degree"]
    wanted = 2 * np.sin(x[:, 1] - x[:, 0]) + np.sin(x[:, 2] - x[:, 0])
    assert np.allclose(two["sin_diff"][:, 0], wanted)
    assert np.allclose(two["sin_diff"][:, 3], np.sin(x[:, 0] - x[:, 3]))
    assert (two["sin_diff"][:, [1, 2]] == 0).all()
    assert two["degree"][0].tolist() == [3, 0, 0, 1]
    assert np.allclose(three["sin_triple"][:, 3], np.sin(x[:, 0] + x[:, 1] - 2 * x[:, 3]))
    assert np.allclose(three["product"][:, 0], x[:, 1] * x[:, 2])
    assert three["degree"][0].tolist() == [1, 0, 0, 1]
