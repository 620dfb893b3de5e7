"""What an accepted run publishes: a wheel, its statement, an export others can read."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sciharness_catalog.attestation import Attestation

Run = Callable[..., tuple[int, Any]]


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


def test_the_record_says_that_nobody_looked_into_the_package(published: Path) -> None:
    state = json.loads((published.parent.parent / "state.json").read_text())

    review = state["packages"][0]["review"]

    assert review["independent_binary_review_performed"] is False
    assert review["policy"] == "permissive_deferred"


def test_the_export_tells_of_the_review_beside_the_report(published: Path) -> None:
    export = published.parent.parent
    page = (export / "packages.md").read_text()
    report = (export / "report.md").read_text()

    assert "example.line 0.1.0" in page
    assert "independent_binary_review_performed: false" in page
    assert "permissive_deferred, nobody has looked into the package" in page
    assert hashlib.sha256(next(published.glob("*.whl")).read_bytes()).hexdigest() in page
    assert "`packages.md` in the export" in report
    assert "`independent_binary_review_performed`" in report


def test_a_package_published_elsewhere_is_the_same_byte_for_byte(
    published: Path, empty: Path, tmp_path: Path, process: Run, contract: Callable[..., Path]
) -> None:
    other = {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    before = os.umask(0o077)
    try:
        _, view = process(empty, "run", contract(tmp_path / "w"), "--json", **other)
    finally:
        os.umask(before)

    again = Path(view["export"]) / "artifacts" / "predictor_plugin"
    for path in published.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes()


def test_without_the_switch_nothing_is_published(
    empty: Path, tmp_path: Path, run: Run, contract: Callable[..., Path]
) -> None:
    code, said = run(empty, "check", contract(tmp_path, "false"), "--json")

    assert code == 3
    assert any("publish_plugins" in json.dumps(problem) for problem in said["problems"])


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

    # The law is 3 a - b; noise 0.01 on 48 rows leaves constants within about 0.01.
    assert float(done.stdout) == pytest.approx(2.5, abs=0.05)


def test_a_minimal_example_runs_from_the_unpacked_export(published: Path, tmp_path: Path) -> None:
    shutil.copytree(published.parent / "fit", tmp_path / "fit")

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


def test_the_summary_of_the_run_says_that_nobody_looked(published: Path, run: Run) -> None:
    export = published.parent.parent

    _, said = run(export.parent.parent, "show", export.name)

    assert "published: example.line 0.1.0" in said
    assert "independent_binary_review_performed: false (permissive_deferred)" in said


def test_an_export_says_that_nobody_looked(published: Path, tmp_path: Path, run: Run) -> None:
    home = published.parent.parent.parent.parent

    _, said = run(home, "export", "1", "--out", tmp_path / "one")
    _, told = run(home, "export", "1", "--out", tmp_path / "two", "--json")

    assert "example.line 0.1.0: independent_binary_review_performed: false" in said
    assert told["reviews"][0]["independent_binary_review_performed"] is False


def test_an_export_verifies_with_its_package(published: Path, tmp_path: Path, run: Run) -> None:
    code, _ = run(tmp_path / "home", "verify", published.parent.parent)

    assert code == 0


@pytest.mark.parametrize("part", ["wheel", "statement"])
def test_an_export_whose_package_and_attestation_disagree_does_not_verify(
    published: Path, tmp_path: Path, run: Run, forge: Callable[..., Path], part: str
) -> None:
    """The manifest and the record are made to fit, so that only the package itself is wrong."""
    export = tmp_path / "export"
    shutil.copytree(published.parent.parent, export)
    wheel = next((export / "artifacts/predictor_plugin").glob("*.whl"))
    other = forge(wheel, tmp_path / "other", changed={"usage_guide.md": b"# Another\n"})
    named = wheel.name if part == "wheel" else f"{wheel.name}.attestation.json"

    said = disagreements(export, wheel.parent / named, (other.parent / named).read_bytes())

    assert any("a wheel that fits its attestation" in text for text in said)


def disagreements(export: Path, path: Path, content: bytes) -> list[str]:
    """Return what verifying says of an export in which one file was replaced everywhere."""
    from attrs import evolve

    from sciharness.errors import IntegrityError
    from sciharness.export.manifest import MANIFEST, Manifest
    from sciharness.export.verify import verify_export
    from sciharness.store._files import Blob

    path.write_bytes(content)
    manifest = Manifest.from_bytes((export / MANIFEST).read_bytes())
    name = path.relative_to(export).as_posix()
    blob = Blob(hashlib.sha256(content).hexdigest(), len(content))
    listed = tuple(
        evolve(one, sha256=blob.sha256, size=blob.size) if one.path == name else one
        for one in manifest.artifacts
    )
    changed = evolve(manifest, files={**manifest.files, name: blob}, artifacts=listed)
    (export / MANIFEST).write_bytes(changed.to_bytes())
    with pytest.raises(IntegrityError) as refusal:
        verify_export(export)
    return [str(problem) for problem in refusal.value.problems]
