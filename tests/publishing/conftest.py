"""One published predictor for all tests of the folder, and ways to use and to alter it."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sysconfig
import zipfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from plane import write_contract

from sciharness.cli import main
from sciharness_publisher.wheels import WheelPlan, build_wheel

HARNESS = Path(sysconfig.get_path("scripts")) / "harness"

Answer = tuple[int, Any]  # Any: JSON values, or the text of a command that printed none


@pytest.fixture(scope="session")
def contract() -> Callable[..., Path]:
    """A maker of the contract, with its data, in a folder."""
    return write_contract


@pytest.fixture(scope="session")
def process() -> Callable[..., Answer]:
    """The command `harness` in a process of its own."""

    def run(home: Path, *words: str | Path, **environment: str) -> Answer:
        ended = subprocess.run(
            [HARNESS, *map(str, words)],
            capture_output=True,
            text=True,
            env={**os.environ, "HARNESS_HOME": str(home), **environment},
            check=False,
        )
        return ended.returncode, _answer(ended.stdout, ended.stderr)

    return run


@pytest.fixture(scope="session")
def run() -> Callable[..., Answer]:
    """The command `harness` in this process: quick, while predictors still get their own."""

    def run_here(home: Path, *words: str | Path) -> Answer:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
            main(["--home", str(home), *map(str, words)])
        return int(str(left.value.code or 0)), _answer(out.getvalue(), err.getvalue())

    return run_here


def _answer(out: str, err: str) -> Any:
    try:
        return json.loads(out)
    except ValueError:
        return out + err


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory, process: Callable[..., Answer]) -> Path:
    """The folder with a published wheel and its attestation in an export, made once."""
    folder = tmp_path_factory.mktemp("published")
    code, view = process(folder / "home", "run", write_contract(folder / "work"), "--json")
    assert (code, view["delivery"]) == (0, "succeeded")
    return Path(view["export"]) / "artifacts" / "predictor_plugin"


@pytest.fixture(scope="session")
def installed(
    published: Path, tmp_path_factory: pytest.TempPathFactory, run: Callable[..., Answer]
) -> Path:
    """A home in which the predictor is installed; tests work with copies of it."""
    home = tmp_path_factory.mktemp("installed") / "home"
    code, _ = run(home, "plugin", "install", next(published.glob("*.whl")))
    assert code == 0
    return home


@pytest.fixture
def empty(installed: Path, tmp_path: Path, run: Callable[..., Answer]) -> Path:
    """A home that knows the plugins of this Python, so that nothing has to be asked of them."""
    fresh = tmp_path / "empty"
    run(fresh, "list")
    shutil.copytree(installed / "plugins/descriptors", fresh / "plugins/descriptors")
    return fresh


@pytest.fixture
def home(installed: Path, tmp_path: Path) -> Path:
    """A home of its own in which the predictor is installed."""
    shutil.copytree(installed, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def wheel(published: Path, tmp_path: Path) -> Path:
    """A copy of the wheel with its attestation beside it."""
    for path in published.iterdir():
        shutil.copy(path, tmp_path / path.name)
    return next(tmp_path.glob("*.whl"))


@pytest.fixture(scope="session")
def forge() -> Callable[..., Path]:
    """A maker of a well-formed package like the published one, but with what the caller wants.

    Both statements fit the package, so that only what is asked for is wrong with it.
    """

    def make(
        wheel: Path,
        out: Path,
        plugin_id: str = "example.line",
        version: str = "0.1.0",
        changed: Mapping[str, bytes] | None = None,
        members: Mapping[str, bytes] | None = None,
        **said: Any,
    ) -> Path:
        from sciharness_catalog.attestation import Attestation
        from sciharness_publisher import publishing
        from sciharness_publisher.generated_predictor import predictor_payload, predictor_wheel

        with zipfile.ZipFile(wheel) as archive:
            names = (*publishing.PARTS.values(),)
            files = {name: archive.read(f"example_line/{name}") for name in names}
        files.update(changed or {})
        card = json.loads(files["model_card.json"])
        beside = wheel.with_name(f"{wheel.name}.attestation.json")
        known = Attestation.parse(beside.read_bytes())
        sources = tuple(
            _resourced(source, files) if source.name in files else source
            for source in known.sources
        )
        view = {"contract_digest": known.contract_sha256, "metrics": []}
        maker = publishing.Statements(plugin_id, version, sources, view)
        bare = predictor_payload(plugin_id, version, files, card)
        plan = predictor_wheel(plugin_id, version, files, b"", card)
        digest = publishing._digest(plan, bare)
        inside = maker.of(publishing.PAYLOAD, digest, digest, bare)
        whole = predictor_wheel(plugin_id, version, files, inside.to_bytes(), card)
        plan = WheelPlan(
            whole.name,
            whole.version,
            whole.summary,
            {**whole.files, **(members or {})},
            whole.requires,
            whole.entry_points,
        )
        return _written(out, plan, maker, publishing, said)

    return make


def _resourced(source: Any, files: Mapping[str, bytes]) -> Any:
    import hashlib

    from attrs import evolve

    return evolve(source, sha256=hashlib.sha256(files[source.name]).hexdigest())


def _written(out: Path, plan: WheelPlan, maker: Any, publishing: Any, said: Any) -> Path:
    import hashlib

    from attrs import evolve

    from sciharness_catalog.paths import is_payload
    from sciharness_publisher.wheels import wheel_members

    out.mkdir(parents=True, exist_ok=True)
    content = build_wheel(plan)
    payload = {name: data for name, data in plan.files.items() if is_payload(name)}
    statement = maker.of(
        plan.file_name,
        hashlib.sha256(content).hexdigest(),
        publishing._digest(plan, payload),
        wheel_members(plan),
    )
    path = out / plan.file_name
    path.write_bytes(content)
    beside = evolve(statement, **said)
    path.with_name(f"{path.name}.attestation.json").write_bytes(beside.to_bytes())
    return path
