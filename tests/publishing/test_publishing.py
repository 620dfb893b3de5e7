"""From an accepted run to an installed tool: publish, compare, install, predict, tamper."""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sciharness_catalog.attestation import Attestation
from sciharness_publisher.wheels import WheelPlan, build_wheel

HARNESS = str(Path(sysconfig.get_path("scripts")) / "harness")

CONTRACT = """\
schema: research-contract-v1
title: A line as a tool
goal: Predict y from a and b by a tool that others can install.
inputs: [{name: data, path: line.csv, role: labelled_table, target: y}]
capabilities: [symbolic_regression.search, evaluation.regression]
acceptance: [{metric: relative_rmse, op: "<=", value: 0.05, trusted: true}]
permissions: {publish_plugins: PERMISSION}
steps:
  - id: fit
    use: symbolic_regression.search
    inputs: {data: data}
    with: {max_evaluations: 10000, restarts: 1, stability_runs: 0, alphabet: arithmetic}
  - {id: judge, use: evaluation.regression, inputs: {predictor: fit, data: data}}
deliver: [predictor_plugin]
publish: {id: example.line, version: 0.1.0}
"""


def write(folder: Path, permission: str = "true") -> Path:
    """Write rows of a plane with little noise and the contract beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(7)
    rows = [(draw.uniform(0, 5), draw.uniform(1, 3)) for _ in range(60)]
    lines = [f"{a:.5f},{b:.5f},{3 * a - b + draw.gauss(0, 0.01):.6f}" for a, b in rows]
    (folder / "line.csv").write_text("a,b,y\n" + "\n".join(lines) + "\n")
    path = folder / "contract.yaml"
    path.write_text(CONTRACT.replace("PERMISSION", permission))
    return path


def run(home: Path, *arguments: str, **environment: str) -> tuple[int, Any]:
    """Run `harness` and return the exit code and stdout as JSON, or all output as text."""
    found = subprocess.run(
        [HARNESS, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "HARNESS_HOME": str(home), **environment},
        check=False,
    )
    try:
        return found.returncode, json.loads(found.stdout)
    except ValueError:
        return found.returncode, found.stdout + found.stderr


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a published wheel and its attestation, made once."""
    folder = tmp_path_factory.mktemp("published")
    code, view = run(folder / "home", "run", str(write(folder / "work")), "--json")
    assert (code, view["delivery"]) == (0, "succeeded")
    return Path(view["export"]) / "artifacts" / "predictor_plugin"


@pytest.fixture
def wheel(published: Path, tmp_path: Path) -> Path:
    """A copy of the wheel with its attestation beside it."""
    for path in published.iterdir():
        shutil.copy(path, tmp_path / path.name)
    return next(tmp_path.glob("*.whl"))


def test_the_export_holds_a_wheel_bound_by_the_publish_event(published: Path) -> None:
    export = published.parent.parent
    wheel = next(published.glob("*.whl"))
    said = Attestation.parse(next(published.glob("*.attestation.json")).read_bytes())

    assert "PackagePublished" in (export / "events.jsonl").read_text()
    assert said.subject == wheel.name
    assert {source.type for source in said.sources} >= {
        "model",
        "inference.source.python",
        "model_card",
        "predictor.evaluation",
    }
    state = json.loads((export / "state.json").read_text())
    review = state["packages"][0]["review"]
    assert review["independent_binary_review_performed"] is False
    assert review["policy"] == "permissive_deferred"


def test_a_package_published_elsewhere_is_the_same_byte_for_byte(
    published: Path, tmp_path: Path
) -> None:
    other = {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    before = os.umask(0o077)
    try:
        _, view = run(tmp_path / "h", "run", str(write(tmp_path / "w")), "--json", **other)
    finally:
        os.umask(before)

    again = Path(view["export"]) / "artifacts" / "predictor_plugin"
    for path in published.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes()


def test_without_the_switch_nothing_is_published(tmp_path: Path) -> None:
    code, said = run(tmp_path / "home", "check", str(write(tmp_path, "false")), "--json")

    assert code == 3
    assert any("publish_plugins" in json.dumps(problem) for problem in said["problems"])


def test_an_installed_predictor_predicts_as_its_formula_does(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (tmp_path / "new.csv").write_text("a;b\n1,5;2,0\n4,0;1,5\n")

    assert run(home, "plugin", "install", str(wheel))[0] == 0
    code, _ = run(
        home, "predict", "example.line", str(tmp_path / "new.csv"), "-o", str(tmp_path / "out.csv")
    )

    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    assert code == 0
    # The law is 3 a - b; noise 0.01 on 48 rows leaves constants within about 0.01.
    assert [float(row["prediction"]) for row in rows] == pytest.approx([2.5, 10.5], abs=0.05)
    listed = run(home, "plugin", "list", "--json")[1]["plugins"]
    mine = next(entry for entry in listed if entry["id"] == "example.line")
    assert (mine["origin"], mine["state"], mine["trusted_metrics"]) == (
        "generated",
        "admitted",
        False,
    )


def test_a_missing_column_is_named(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("a,c\n1.5,2.0\n")
    run(tmp_path / "home", "plugin", "install", str(wheel))

    code, said = run(
        tmp_path / "home",
        "predict",
        "example.line",
        str(tmp_path / "new.csv"),
        "-o",
        str(tmp_path / "o.csv"),
        "--json",
    )

    assert code == 3
    assert said["error"]["message"] == "missing columns: b"
    assert not (tmp_path / "o.csv").exists()


def test_installing_again_is_a_no_op_and_another_attestation_a_conflict(
    wheel: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    assert run(home, "plugin", "install", str(wheel), "--json")[1]["already_installed"] is False
    assert run(home, "plugin", "install", str(wheel), "--json")[1]["already_installed"] is True
    beside = wheel.with_name(f"{wheel.name}.attestation.json")
    said = json.loads(beside.read_bytes())
    said["predicate"]["runDetails"]["builder"]["id"] = "urn:somebody:else"
    from sciharness_catalog.canonical import canonical_json

    beside.write_bytes(canonical_json(said))

    code, refused = run(home, "plugin", "install", str(wheel), "--json")

    assert code == 7
    assert "another attestation" in refused["error"]["message"]


def alterations(statement: Any, path: str = "") -> list[tuple[str, Callable[[Any], None]]]:
    """Return a change for every leaf of a statement."""
    found: list[tuple[str, Callable[[Any], None]]] = []
    pairs = statement.items() if isinstance(statement, dict) else enumerate(statement)
    for key, value in pairs:
        here = f"{path}/{key}"
        if isinstance(value, dict | list):
            inner = alterations(value, here)
            found += [
                (name, lambda root, k=key, change=change: change(root[k])) for name, change in inner
            ]
        else:
            found.append((here, lambda root, k=key: root.__setitem__(k, _other(root[k]))))
    return found


def _other(value: Any) -> Any:
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    return value + 1.0


def test_every_item_of_an_attestation_is_compared(wheel: Path) -> None:
    from sciharness.errors import HarnessError
    from sciharness.generated.packages import read_generated
    from sciharness_catalog.canonical import canonical_json

    beside = wheel.with_name(f"{wheel.name}.attestation.json")
    content = beside.read_bytes()
    changes = alterations(json.loads(content))
    unnoticed = []
    for name, change in changes:
        said = json.loads(content)
        change(said)
        beside.write_bytes(canonical_json(said))
        try:
            read_generated(wheel)
            unnoticed.append(name)
        except HarnessError:
            pass

    # Who built it and with which operation is stated beside the wheel only;
    # installing compares the whole statement with the one that was installed.
    free = {
        "/predicate/runDetails/builder/id",
        "/predicate/buildDefinition/externalParameters/operation",
        "/predicate/buildDefinition/externalParameters/protocol",
    }
    assert set(unnoticed) <= free
    print(f"altered items noticed: {len(changes) - len(unnoticed)} of {len(changes)}")


@pytest.mark.parametrize("how", ["flip", "append", "remove", "add"])
def test_a_changed_wheel_is_refused_and_nothing_is_installed(
    wheel: Path, tmp_path: Path, how: str
) -> None:
    content = wheel.read_bytes()
    if how == "flip":
        middle = len(content) // 2
        wheel.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    elif how == "append":
        wheel.write_bytes(content + b"\n")
    else:
        rewrite(wheel, how)

    code, said = run(tmp_path / "home", "plugin", "install", str(wheel), "--json")

    assert code == 7
    assert said["error"]["kind"] == "integrity"
    assert not (tmp_path / "home/plugins/generated/example.line").exists()


def rewrite(wheel: Path, how: str) -> None:
    """Take a member out of a wheel, or put one in, with a RECORD that fits."""
    with zipfile.ZipFile(wheel) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    files = {name: data for name, data in members.items() if ".dist-info/" not in name}
    if how == "remove":
        del files["example_line/usage_guide.md"]
    else:
        files["example_line/extra.py"] = b"import os\n"
    plan = WheelPlan(
        "example.line",
        "0.1.0",
        "changed",
        files,
        ("numpy>=1.26",),
        {
            "console_scripts": {"example-line": "example_line:main"},
            "sciharness.plugins": {"example.line": "example_line"},
        },
    )
    wheel.write_bytes(build_wheel(plan))


def test_every_change_of_an_installed_file_is_noticed(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    run(home, "plugin", "install", str(wheel))
    place = home / "plugins/generated/example.line/0.1.0"
    package = sorted(path for path in (place / "example_line").rglob("*") if path.is_file())
    (tmp_path / "new.csv").write_text("a,b\n1.5,2.0\n")
    noticed = 0
    for path in package:
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        code, _ = run(
            home,
            "predict",
            "example.line",
            str(tmp_path / "new.csv"),
            "-o",
            str(tmp_path / "o.csv"),
        )
        noticed += code == 7
        path.write_bytes(content)
    (place / "example_line" / "planted.py").write_text("raise SystemExit(0)\n")
    planted, _ = run(
        home, "predict", "example.line", str(tmp_path / "new.csv"), "-o", str(tmp_path / "o.csv")
    )

    assert noticed == len(package)
    assert planted == 7


def test_several_predictors_that_fit_are_named_and_none_is_chosen(
    wheel: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    run(home, "plugin", "install", str(wheel))
    second = write(tmp_path / "second")
    second.write_text(second.read_text().replace("example.line", "example.other"))
    _, view = run(home, "run", str(second), "--json")
    other = next((Path(view["export"]) / "artifacts/predictor_plugin").glob("*.whl"))
    run(home, "plugin", "install", str(other))
    (tmp_path / "new.csv").write_text("a,b\n1.5,2.0\n")

    code, found = run(home, "plugin", "match", str(tmp_path / "new.csv"), "--json")

    assert code == 4
    assert [one["plugin_id"] for one in found["matches"]] == ["example.line", "example.other"]


def test_the_wheel_works_without_sciharness(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    script = (
        "import sys, example_line\n"
        "assert 'sciharness' not in sys.modules\n"
        "print(example_line.predict({'a': [1.5], 'b': [2.0]})[0]['prediction'])"
    )

    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert float(done.stdout) == pytest.approx(2.5, abs=0.05)


def test_a_removed_predictor_is_gone(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    run(home, "plugin", "install", str(wheel))

    code, _ = run(home, "plugin", "remove", "example.line", "--yes")

    assert code == 0
    assert not (home / "plugins/generated/example.line/0.1.0").exists()


def test_a_minimal_example_runs_from_the_unpacked_export(published: Path, tmp_path: Path) -> None:
    fit = published.parent / "fit"
    shutil.copytree(fit, tmp_path / "fit")

    done = subprocess.run(
        [sys.executable, str(tmp_path / "fit/minimal_example.py")],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.startswith("sample_id,prediction")


def test_archives_read_the_export_as_a_crate(published: Path) -> None:
    rocrate = pytest.importorskip("rocrate.rocrate", reason="rocrate is not installed")

    crate = rocrate.ROCrate(str(published.parent.parent))

    named = {entity.id for entity in crate.data_entities}
    assert "report.md" in named
    assert any(name.endswith(".whl") for name in named)
