"""The same contract gives the same artifacts: in another home, with more workers, under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

# They tell of this very run: times, versions, how far it came.
OF_A_RUN = {"scientific_report", "environment", "benchmark_result"}


def identities(run: dict[str, Any]) -> dict[str, str]:
    return {
        f"{item['step']}.{item['name']}": item["id"]
        for item in run["artifacts"]
        if item["type"] not in OF_A_RUN
    }


def ran(made: Any, *options: str, **environment: str) -> dict[str, Any]:
    made.table()
    made.contract(seed=7)
    run: dict[str, Any] = made("run", "c.yaml", "--json", *options, code=0, **environment).json
    return run


@pytest.fixture(scope="module")
def first(fresh: Callable[..., Any]) -> dict[str, Any]:
    return ran(fresh("first"), "--workers", "1")


def test_another_home_gives_the_same_artifacts(harness: Any, first: dict[str, Any]) -> None:
    second = ran(harness, "--workers", "1")

    assert identities(second) == identities(first)
    assert len(identities(first)) == 6
    assert second["metrics"] == first["metrics"]


def test_two_workers_give_the_same_artifacts(harness: Any, first: dict[str, Any]) -> None:
    second = ran(harness, "--workers", "2")

    assert identities(second) == identities(first)


def test_the_surroundings_do_not_matter(harness: Any, first: dict[str, Any]) -> None:
    second = ran(
        harness,
        "--workers",
        "1",
        LC_ALL="C",
        TZ="Pacific/Auckland",
        PYTHONHASHSEED="12345",
        USER="somebody",
        COLUMNS="40",
    )

    assert identities(second) == identities(first)


def test_another_seed_gives_other_artifacts(harness: Any, first: dict[str, Any]) -> None:
    harness.table()
    harness.contract(seed=8)

    second = harness("run", "c.yaml", "--json", code=0).json

    differing = {
        name for name, id in identities(second).items() if id != identities(first).get(name)
    }
    assert differing == {"fit.model_card.json"}  # the card names the seed


def test_artifact_identities_hold_nothing_of_the_run(first: dict[str, Any]) -> None:
    from hashlib import sha256

    from sciharness.store.artifacts import artifact_id

    (model,) = [item for item in first["artifacts"] if item["name"] == "model.json"]
    with open(model["path"], "rb") as stream:
        digest = sha256(stream.read()).hexdigest()
    assert model["id"] == artifact_id("model", "model.json", digest, 0)
