"""The record that capabilities get."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import sciharness
from sciharness import AgentContext
from sciharness.contextdata import ContextManifestError

SAMPLES = Path(__file__).parents[2] / "examples" / "data"


def test_a_directory_becomes_a_record(network: Any) -> None:
    context = AgentContext.from_directory(network.write())

    assert list(context.axes) == ["time", "node", "edge", "endpoint"]
    assert list(context.variables) == ["theta", "A", "w", "mass", "g"]
    assert context.data.keys() == context.axes.keys() | context.variables.keys()
    assert context.variable_axes["w"] == ("time", "edge")
    assert context.structures == {"w": "A"}
    assert context.relation_names == ("A",)
    assert context.num_nodes == 4
    assert context.describe("theta") == "Phase."
    np.testing.assert_array_equal(context["theta"], network.arrays["theta"])
    np.testing.assert_array_equal(context["time"], network.arrays["time"])


def test_it_says_what_belongs_together(network: Any) -> None:
    context = AgentContext.from_directory(network.write())

    assert list(context.relations) == ["A"]
    assert list(context.along("node")) == ["theta", "mass"]
    assert list(context.on("A")) == ["w"]
    assert "mass" in context
    assert "other" not in context
    assert context.table_axis is None
    assert "theta: float64 along (time, node)" in repr(context)
    with pytest.raises(KeyError):
        context.describe("other")


def test_the_yearly_sample_is_a_table() -> None:
    context = AgentContext.from_directory(SAMPLES / "yearly_table")

    assert context.table_axis == "year"
    assert context["year"].tolist() == [2018, 2019, 2020, 2021, 2022]
    assert context["population"].shape == (5,)


def test_the_network_sample_has_32_edges_between_10_nodes() -> None:
    context = AgentContext.from_directory(SAMPLES / "oscillator_network")

    assert context.relations["A"].shape == (32, 2)
    assert context.num_nodes == 10
    assert context["theta"].shape == (len(context["time"]), 10)
    assert context["endpoint"].tolist() == ["target", "source"]


def test_arrays_may_be_mapped(network: Any) -> None:
    context = AgentContext.from_directory(network.write(), mmap=True)

    assert isinstance(context["theta"], np.memmap)


def test_the_record_is_fixed(network: Any) -> None:
    context = AgentContext.from_directory(network.write())

    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        context.num_nodes = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        context.variables["theta"] = np.zeros(1)  # type: ignore[index]


def test_a_name_for_axis_and_variable_is_refused() -> None:
    with pytest.raises(ContextManifestError, match="expected a name that no axis has"):
        AgentContext(
            axes={"t": np.arange(3)}, variables={"t": np.ones(3)}, variable_axes={"t": ["t"]}
        )


def test_arrays_that_do_not_fit_their_axes_are_refused() -> None:
    with pytest.raises(ContextManifestError) as caught:
        AgentContext(
            axes={"t": np.arange(3)},
            variables={"x": np.ones(4), "y": np.ones(3), "z": np.ones(3)},
            variable_axes={"x": ["t"], "y": ["s"], "z": ["t"]},
            relation_names=["A"],
        )

    assert [problem.path for problem in caught.value.problems] == [
        "variables.x",
        "variables.y",
        "variables.A",
    ]


def test_an_unsound_directory_is_refused(network: Any) -> None:
    network.manifest["num_nodes"] = 0

    with pytest.raises(ContextManifestError, match="num_nodes"):
        sciharness.AgentContext.from_directory(network.write())
