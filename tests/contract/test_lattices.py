"""A lattice text without a capability that converts it is refused before a run exists."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sciharness.contract.preflight import Preflight

TEXT = """\
schema: research-contract-v1
title: Ring
goal: See which particles survive.
inputs: [{name: ring, path: %s, role: lattice}]
capabilities: [%s]
acceptance: [{metric: accuracy, op: ">=", value: 0.5}]
holdout: none
"""


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("ring.madx", "madx_to_xsuite_json"),
        ("ring.SEQ", "madx_to_xsuite_json"),
        ("ring.lte", "elegant_to_xsuite_json"),
        ("run.ele", "elegant_to_xsuite_json"),
        ("twiss.tfs", "tfs_to_xsuite_json"),
        ("ring.bmad", "bmad_to_xsuite_json"),
    ],
)
def test_the_missing_capability_is_named(
    look: Callable[..., Preflight], path: str, wanted: str
) -> None:
    found = look(TEXT % (path, "beam.generate"))

    assert wanted in "\n".join(str(one) for one in found.problems if one.path == "inputs[0].path")


@pytest.mark.parametrize(
    ("path", "capabilities"),
    [
        ("ring.json", "beam.generate"),
        ("ring.json.gz", "beam.generate"),
        ("ring.madx", "beam.generate, beam.madx_to_xsuite_json"),
    ],
)
def test_json_and_texts_with_a_converter_are_no_problem(
    look: Callable[..., Preflight], path: str, capabilities: str
) -> None:
    found = look(TEXT % (path, capabilities))

    assert "to_xsuite_json that makes it" not in "\n".join(map(str, found.problems))
