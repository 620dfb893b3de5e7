"""A hybrid surrogate from the contract to the installed tool."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

CRITERIA = [
    {"metric": "relative_rmse", "op": "<=", "value": 0.05},
    {"metric": "routing_policy_verified", "op": ">=", "value": 1},
    {"metric": "hybrid_speedup", "op": ">", "value": 0},
]
PUBLISHED = {
    "acceptance": CRITERIA,
    "workflow": {"final_predictor": True},
    "permissions": {"publish_plugins": True},
    "deliver": ["predictor_plugin"],
    "publish": {"id": "example.spring", "version": "0.1.0", "install": True},
}


def response(frequency: float, damping: float) -> float:
    return 1 / math.hypot(1 - frequency**2, 2 * damping * frequency)


@pytest.fixture(scope="module")
def delivered(make_lab: Any, spring: Any, hybrid_steps: Any) -> tuple[Any, Any]:
    """A run that made, measured, published and installed a hybrid, and what it shows."""
    lab = make_lab()
    contract = lab.contract(spring, hybrid_steps, **PUBLISHED)
    return lab, lab("run", contract, "--json", code=0).json


@pytest.fixture
def queries(delivered: tuple[Any, Any]) -> Path:
    """A table with rows inside and outside the domain."""
    path = delivered[0].folder / "new.csv"
    path.write_text("sample_id,damping,frequency\na,0.8,0.4\nb,0.5,9.0\nc,0.9,0.3\nd,3.0,1.0\n")
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_run_reports_error_routing_and_speed_without_trusting_them(delivered: Any) -> None:
    _, view = delivered
    metrics = {one["name"]: one for one in view["metrics"]}

    assert view["status"] == "succeeded"
    assert metrics["relative_rmse"]["value"] <= 0.05
    assert metrics["routing_policy_verified"]["value"] == 1.0
    assert metrics["hybrid_speedup"]["value"] > 0.0
    assert {one["source"] for one in view["metrics"]} == {"reported"}


def test_solver_calls_are_charged_to_the_budget(delivered: Any) -> None:
    _, view = delivered
    # 240 samples, 200 compared queries, 40 rows outside; charged only for these.
    assert view["budget"]["solver_calls"]["used"] == 480


def test_the_receipt_binds_products_benchmark_and_solver(delivered: Any) -> None:
    lab, view = delivered
    receipt = json.loads(lab.artifact(view, "evaluation.json").read_text())
    bound = {
        one["name"]: one["sha256"]
        for one in (*receipt["products"], *receipt["benchmark"], receipt["solver"])
    }

    assert receipt["trusted"] is False
    assert "no independent" in receipt["statement"]
    for name in ("model.json", "inference.py", "model_card.json", "benchmark.json", "solver.tar"):
        content = lab.artifact(view, name).read_bytes()
        assert bound[name] == hashlib.sha256(content).hexdigest()


def test_predict_says_per_row_which_way_it_went(delivered: Any, queries: Path) -> None:
    lab, _ = delivered

    done = lab("predict", "example.spring", queries, "-o", "out.csv", "--force", code=0)

    rows = rows_of(lab.folder / "out.csv")
    assert [row["routed"] for row in rows] == ["model", "solver", "model", "solver"]
    assert [row["in_domain"] for row in rows] == ["1", "0", "1", "0"]
    assert "2 rows to the model, 2 to the solver" in done.err
    # The solver prints 17 digits, so its own answers come back exactly but for one rounding.
    assert float(rows[1]["prediction"]) == pytest.approx(response(9.0, 0.5), rel=1e-15)
    assert float(rows[0]["prediction"]) == pytest.approx(response(0.4, 0.8), rel=0.05)
    assert float(rows[0]["lower"]) < float(rows[0]["prediction"]) < float(rows[0]["upper"])
    assert rows[1]["lower"] == rows[1]["prediction"] == rows[1]["upper"]


def test_an_exported_hybrid_needs_nothing_of_ours(delivered: Any, tmp_path: Path) -> None:
    lab, view = delivered
    for name in ("model.json", "inference.py", "solver.tar"):
        (tmp_path / name).write_bytes(lab.artifact(view, name).read_bytes())
    (tmp_path / "in.csv").write_text("frequency,damping\n1.0,5.0\n")
    words = ["--model", "model.json", "--input", "in.csv", "--output", "out.csv"]

    subprocess.run([sys.executable, "-I", "inference.py", *words], cwd=tmp_path, check=True)

    assert float(rows_of(tmp_path / "out.csv")[0]["prediction"]) == pytest.approx(0.1, rel=1e-15)


@pytest.mark.parametrize("name", ["solver.tar", "model.json"])
def test_a_changed_part_of_an_installed_hybrid_is_refused(
    delivered: Any, queries: Path, name: str
) -> None:
    lab, _ = delivered
    (part,) = lab.home.glob(f"plugins/generated/example.spring/*/example_spring/{name}")
    content = part.read_bytes()
    part.write_bytes(content.replace(b"\x00\x00", b"\x00\x01", 1) + b" ")

    done = lab("predict", "example.spring", queries, "-o", "o.csv", "--force")

    part.write_bytes(content)
    assert done.code == 7
    assert not (lab.folder / "o.csv").exists()


def test_a_solver_with_another_byte_is_not_run(delivered: Any, tmp_path: Path) -> None:
    lab, view = delivered
    for name in ("model.json", "inference.py"):
        (tmp_path / name).write_bytes(lab.artifact(view, name).read_bytes())
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    mark = tmp_path / "mark"
    (root / "bin" / "solve").write_text(f"#!/bin/sh\ntouch {mark}\n")
    (tmp_path / "in.csv").write_text("frequency,damping\n1.0,5.0\n")
    words = ["--model", "model.json", "--input", "in.csv", "--output", "out.csv"]

    done = subprocess.run(
        [sys.executable, "inference.py", *words, "--solver-root", "root"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, mark.exists()) == (3, False)
    assert "is not the file that the surrogate was made from" in done.stderr


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.SYMTYPE], ids=["above", "link"])
def test_an_archive_that_leads_elsewhere_is_not_unpacked(
    delivered: Any, tmp_path: Path, kind: bytes
) -> None:
    lab, view = delivered
    for name in ("model.json", "inference.py"):
        (tmp_path / name).write_bytes(lab.artifact(view, name).read_bytes())
    member = tarfile.TarInfo("../escaped" if kind == tarfile.REGTYPE else "bin")
    member.type, member.linkname = kind, str(tmp_path)
    with tarfile.open(tmp_path / "solver.tar", "w") as archive:
        archive.addfile(member)
    (tmp_path / "in.csv").write_text("frequency,damping\n1.0,5.0\n")
    words = ["--model", "model.json", "--input", "in.csv", "--output", "out.csv"]

    done = subprocess.run(
        [sys.executable, "inference.py", *words],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 3
    assert "is no plain file of a folder" in done.stderr
    assert not list(tmp_path.rglob("escaped"))


def test_a_failing_solver_is_told_by_row(delivered: Any) -> None:
    lab, _ = delivered
    path = lab.folder / "bad.csv"
    path.write_text("frequency,damping\n1.0,0.5\n1.0,-1.0\n")

    done = lab("predict", "example.spring", path, "-o", "no.csv")

    assert done.code == 1
    assert "row 2: the solver failed: exit code 5: damping -1 is not positive" in done.err
    assert not (lab.folder / "no.csv").exists()


def test_the_package_names_its_sources(delivered: Any) -> None:
    lab, view = delivered
    (beside,) = Path(view["export"]).glob("artifacts/predictor_plugin/*.attestation.json")
    statement = json.loads(beside.read_text())
    sources = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    (wheel,) = beside.parent.glob("*.whl")

    digests = {one["digest"]["sha256"] for one in sources}
    with zipfile.ZipFile(wheel) as archive:
        inside = hashlib.sha256(archive.read("example_spring/solver.tar")).hexdigest()
    receipt = hashlib.sha256(lab.artifact(view, "evaluation.json").read_bytes()).hexdigest()
    assert {inside, receipt} <= digests


@pytest.mark.slow
def test_replay_gives_the_same_artifacts(delivered: Any) -> None:
    lab, view = delivered

    done = lab("replay", view["run_id"], "--json", code=0)

    assert '"different"' not in done.out
