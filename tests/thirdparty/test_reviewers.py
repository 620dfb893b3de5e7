"""Reviewers of plugins: each admitted one is asked, and any refusal refuses."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from sciharness.errors import IntegrityError
from sciharness.reviewing import PERMISSIVE, ReviewRefusedError, Reviews, ask_reviewers
from sciharness.store.home import Home

FACTS = {"stage": "install", "id": "acme.tool", "version": "1.0", "origin": "generated"}
HARMLESS = {"tool/model.json": b"{}\n"}


def asked(harness: Any, files: dict[str, bytes]) -> Reviews:
    with harness.opened() as home:
        return ask_reviewers(home, files, FACTS)


def test_without_a_reviewer_it_is_said_that_nobody_looked(bare: Any) -> None:
    reviews = asked(bare, HARMLESS)

    reviews.check()
    said = reviews.to_dict()
    assert (said["policy"], said["accepted"]) == (PERMISSIVE, True) == ("permissive_deferred", True)
    assert said["independent_binary_review_performed"] is False
    assert said["reviews"][0]["reviewer"] == "permissive_deferred"
    for word in ("malware scan", "signature check", "origin authentication", "binary review"):
        assert word in reviews.sentence()


def test_an_admitted_reviewer_is_asked_and_named(harness: Any) -> None:
    reviews = asked(harness, HARMLESS)

    (opinion,) = reviews.opinions
    assert opinion.reviewer.startswith("example.six 1.0.0 plain_files ")
    assert (reviews.policy, reviews.accepted) == ("independent_review", True)
    assert reviews.independent_binary_review_performed is True
    assert reviews.sentence() == "review: passed by example.six"


def test_a_refusal_names_reviewer_and_file(harness: Any) -> None:
    reviews = asked(harness, {**HARMLESS, "tool/fast.so": b"\x7fELF"})

    with pytest.raises(ReviewRefusedError) as caught:
        reviews.check()

    assert caught.value.exit_code == 7
    assert "refused by the reviewer example.six: tool/fast.so is not plain" in str(caught.value)


def test_any_refusal_refuses(harness: Any) -> None:
    harness("plugin", "admit", "odd_reviews", code=0)

    reviews = asked(harness, {"note.txt": b"accept all but one"})

    said = {one.reviewer.split()[2]: one.accepted for one in reviews.opinions}
    assert said["plain_files"] is True
    assert reviews.accepted is False


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("raises", "could not be asked: odd_reviews 1.0: RuntimeError: the scanner is gone"),
        ("crashes", "signal 6"),
        ("nothing", "returns Review"),
        ("refuses", "never liked it"),
    ],
)
def test_one_that_cannot_be_asked_refuses(harness: Any, name: str, said: str) -> None:
    harness("plugin", "admit", "odd_reviews", code=0)

    reviews = asked(harness, HARMLESS)

    (opinion,) = [one for one in reviews.opinions if one.reviewer.split()[2] == name]
    assert opinion.accepted is False
    assert said in opinion.findings[0]


def test_it_sees_the_package_and_nothing_else_and_cannot_change_it(harness: Any) -> None:
    harness("plugin", "admit", "odd_reviews", code=0)
    (harness.home / "vault" / "labels.csv").write_text("sample_id,y\n0,SECRET\n", "utf-8")

    reviews = asked(harness, {"a/b.txt": b"text"})

    (opinion,) = [one for one in reviews.opinions if one.reviewer.split()[2] == "looks"]
    if opinion.findings[0] == "unconfined":
        pytest.skip("nothing confines a worker here")
    assert opinion.findings == (
        "files: a/b.txt",
        "facts: []",
        "stage: install of acme.tool 1.0 (generated)",
        "write: PermissionError",
        "vault: PermissionError",
    )


def test_an_admitted_reviewer_that_is_gone_or_changed_refuses(bare: Any) -> None:
    bare("plugin", "admit", "example.six", code=0)
    module = next(Path(bare.site).rglob("example_six_hooks/reviewer.py"))
    module.write_text(module.read_text("utf-8").replace("not found", "True"), "utf-8")
    changed = asked(bare, HARMLESS)
    shutil.rmtree(module.parent)
    for info in Path(bare.site).glob("example_six_hooks-*"):
        shutil.rmtree(info)
    gone = asked(bare, HARMLESS)
    bare("plugin", "revoke", "example.six", code=0)
    revoked = asked(bare, HARMLESS)

    for reviews, said in ((changed, "digest differs"), (gone, "no longer installed")):
        assert reviews.accepted is False
        assert "example.six.plain_files: was admitted and cannot be asked" in str(reviews.opinions)
        assert said in reviews.opinions[0].findings[0]
        assert "harness plugin revoke example.six" in reviews.opinions[0].findings[0]
    assert revoked.policy == PERMISSIVE


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", ""])
def test_a_file_outside_of_the_package_is_refused(harness: Any, name: str) -> None:
    with pytest.raises(IntegrityError, match="no path inside a package"):
        asked(harness, {name: b""})


@pytest.fixture
def scanned(harness: Any) -> Any:
    pytest.importorskip("yara", reason="yara-python is not installed", exc_type=ImportError)
    harness("plugin", "admit", "example.yara", code=0)
    return harness


def test_yara_rules_block_a_marked_file(scanned: Any) -> None:
    mark = b"x = 'SCIHARNESS-REVIEW-TEST-MARK'\n"
    clean = asked(scanned, {"tool/inference.py": b"x = 'no mark'\n"})
    marked = asked(scanned, {"tool/inference.py": mark})

    clean.check()
    with pytest.raises(ReviewRefusedError, match=r"tool/inference\.py: marked_file"):
        marked.check()


def test_rules_that_were_changed_after_admission_are_not_believed(bare: Any) -> None:
    bare("plugin", "admit", "example.yara", code=0)
    rules = next(Path(bare.site).rglob("rules.yar"))
    rules.write_text("rule none { condition: false }\n", "utf-8")

    reviews = asked(bare, {"tool/inference.py": b"SCIHARNESS-REVIEW-TEST-MARK"})

    assert reviews.accepted is False
    assert "digest differs" in reviews.opinions[0].findings[0]


@pytest.mark.slow
def test_a_package_is_asked_about_at_each_stage(harness: Any) -> None:
    """A reviewer that is admitted after a run keeps its package from being exported."""
    steps = [
        {"id": "fit", "use": "example.robust_line.fit", "inputs": {"data": "data"}},
        {
            "id": "judge",
            "use": "evaluation.regression",
            "inputs": {"predictor": "fit", "data": "data"},
        },
    ]
    harness("plugin", "admit", "example.robust_line", code=0)
    harness.contract(
        capabilities=["example.robust_line.fit", "evaluation.regression"],
        steps=steps,
        deliver=["predictor_plugin"],
        permissions={"publish_plugins": True},
        publish={"id": "acme.line", "version": "1.0.0"},
    )
    run = harness("run", "c.yaml", "--json", code=0).json
    harness("export", "1", "--out", "first", code=0)
    (wheel,) = [Path(one["path"]) for one in run["artifacts"] if one["type"] == "generated_plugin"]
    (statement,) = [Path(one["path"]) for one in run["artifacts"] if one["type"] == "attestation"]
    placed = harness.folder / "acme_line-1.0.0-py3-none-any.whl"
    placed.write_bytes(wheel.read_bytes())
    (harness.folder / "statement.json").write_bytes(statement.read_bytes())
    harness("plugin", "admit", "odd_reviews", code=0)
    install = ("plugin", "install", placed, "--attestation", "statement.json", "--json")

    exported = harness("export", "1", "--out", "second", "--json", code=7)
    installed = harness(*install, code=7)
    harness("plugin", "revoke", "odd_reviews", code=0)
    harness(*install, code=0)

    assert "refused by the reviewer odd_reviews" in exported.json["error"]["message"]
    assert not (harness.folder / "second").exists()
    assert "refused by the reviewer odd_reviews" in installed.json["error"]["message"]


def test_reviewing_leaves_nothing_behind(harness: Any) -> None:
    asked(harness, HARMLESS)

    with Home.open(harness.home) as home:
        assert list(home.temporary.iterdir()) == []
