"""Publishers of plugins: chosen by what they deliver, from accepted artifacts, after review."""

from __future__ import annotations

import json
import zipfile
from typing import Any

import pytest

STEPS = [
    {"id": "fit", "use": "toy.fit", "inputs": {"data": "data"}},
    {"id": "judge", "use": "evaluation.regression", "inputs": {"predictor": "fit", "data": "data"}},
]
DELIVERY: dict[str, Any] = {
    "steps": STEPS,
    "deliver": ["model_sheet"],
    "permissions": {"publish_plugins": True},
    "publish": {"model_sheet": {"id": "acme.sheet", "version": "2.1"}},
}


@pytest.fixture
def delivered(harness: Any) -> Any:
    harness.contract(**DELIVERY)
    return harness("run", "c.yaml", "--json", code=0).json


def test_what_it_makes_is_part_of_the_run_and_its_export(harness: Any, delivered: Any) -> None:
    (sheet,) = [one for one in delivered["artifacts"] if one["name"] == "sheet.md"]
    harness("export", "1", "--out", "run.zip", code=0)

    with open(sheet["path"], encoding="utf-8") as text:
        lines = text.read().splitlines()
    with zipfile.ZipFile(harness.folder / "run.zip") as archive:
        names = archive.namelist()

    assert lines[:3] == ["# acme.sheet 2.1", "", "Predicts y from:"]
    assert [line[:4] for line in lines[3:]] == ["- a:", "- b:"]
    assert delivered["delivery"] == "succeeded"
    assert any(name.endswith("sheet.md") for name in names)
    harness("verify", "run.zip", code=0)


def test_its_pin_and_the_reviews_stand_in_the_record(harness: Any, delivered: Any) -> None:
    (published,) = harness.events("DocumentsPublished")
    lock = json.loads((harness.folder / "c.lock").read_text("utf-8"))

    assert published["publisher"].startswith("example.six 1.0.0 sheet ")
    assert lock["pins"]["example.six.sheet"] == published["publisher"]
    assert published["review"]["independent_binary_review_performed"] is True
    assert delivered["documents"][0]["deliverable"] == "model_sheet"


def test_it_is_asked_for_by_name_and_permitted_by_the_switch(harness: Any) -> None:
    harness.contract(**{**DELIVERY, "permissions": {}})
    forbidden = harness.review("c.yaml")
    harness.contract(**{**DELIVERY, "deliver": ["model_sheat"], "publish": None})
    unknown = harness.review("c.yaml")
    install = {"model_sheet": {"id": "acme.sheet", "install": True}}
    harness.contract(**{**DELIVERY, "publish": install})
    installed = harness.review("c.yaml")

    assert "publish_plugins" in str(forbidden.problems[0])
    assert "Did you mean `model_sheet`?" in str(unknown.problems[0])
    assert "it only for predictor_plugin" in str(installed.problems[0])


def test_a_refusal_fails_the_delivery_and_leaves_the_research(harness: Any) -> None:
    harness("plugin", "admit", "odd_reviews", code=0)
    harness.contract(**DELIVERY)

    done = harness("run", "c.yaml", "--json", code=7)

    assert (done.json["status"], done.json["delivery"]) == ("succeeded", "failed")
    assert "refused by the reviewer odd_reviews" in done.json["error"]["message"]
    assert [one for one in done.json["artifacts"] if one["name"] == "sheet.md"] == []
