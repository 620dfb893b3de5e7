"""A solver behind its adapter: from the contract to `harness solve`, and what is refused."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

ADAPT = {"id": "adapter", "use": "file_solver.adapter", "inputs": {"solver": "solver"}}
SMOKE = {
    "id": "smoke",
    "use": "execution.python.run",
    "inputs": {"program": "adapter", "solver": "solver"},
}
PUBLISHED = {
    "acceptance": [{"metric": "adapter_validated", "op": ">=", "value": 1}],
    "permissions": {"publish_plugins": True},
    "deliver": ["solver_adapter"],
    "publish": {"id": "example.spring_solver", "version": "0.1.0", "install": True},
}
STATEMENTS = (
    "independent_binary_review_performed=false: no malware scan",
    "neither code signing nor a verdict of safety",
    "do not prove that the smoke test ran",
)


@pytest.fixture(scope="module")
def published(make_lab: Any, spring: Any) -> tuple[Any, Any]:
    """A run that published and installed the spring's adapter, and what it shows."""
    lab = make_lab()
    contract = lab.contract(spring, [ADAPT, SMOKE], **PUBLISHED)
    return lab, lab("run", contract, "--json", code=0).json


def package(view: Any) -> Path:
    (wheel,) = Path(view["export"]).glob("artifacts/solver_adapter/*.whl")
    return wheel


def test_the_record_binds_bundle_and_adapter(published: Any) -> None:
    lab, view = published
    record = json.loads(lab.artifact(view, "adapter_validation.json").read_text())
    digests = {
        name: hashlib.sha256(lab.artifact(view, name).read_bytes()).hexdigest()
        for name in ("adapter.py", "solver.tar")
    }

    assert record["status"] == "passed"
    assert record["adapter_source_sha256"] == digests["adapter.py"]
    assert record["solver_bundle_sha256"] == digests["solver.tar"]


def test_solve_gives_the_solvers_own_numbers_by_name(published: Any) -> None:
    lab, _ = published
    (lab.folder / "in.csv").write_text("sample_id,damping,note,frequency\na,5,x,1\nb,0.5,y,2\n")

    done = lab("solve", "example.spring_solver", "in.csv", "-o", "out.csv", "--force", code=0)

    assert (lab.folder / "out.csv").read_text().splitlines()[:2] == ["sample_id,response", "a,0.1"]
    assert all(statement in done.err for statement in STATEMENTS)


def test_a_case_that_fails_leaves_no_output(published: Any) -> None:
    lab, _ = published
    (lab.folder / "bad.csv").write_text("frequency,damping\n1,1\n1,0\n")

    done = lab("solve", "example.spring_solver", "bad.csv", "-o", "no.csv")

    assert done.code == 1
    assert "case 1: exit code 5: damping 0 is not positive" in done.err
    assert not (lab.folder / "no.csv").exists()


def test_the_attestation_binds_three_sources_and_every_file(published: Any) -> None:
    _, view = published
    wheel = package(view)
    statement = json.loads(wheel.with_name(f"{wheel.name}.attestation.json").read_text())
    build = statement["predicate"]["buildDefinition"]
    with zipfile.ZipFile(wheel) as archive:
        held = {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}
    sources = {one["name"]: one for one in build["resolvedDependencies"]}
    known = {one["sha256"] for one in view["artifacts"]}

    assert build["internalParameters"]["files"] == held
    assert build["externalParameters"]["protocol"] == "file-solver-adapter-v1"
    assert set(sources) == {"solver.tar", "adapter.py", "adapter_validation.json"}
    for name, source in sources.items():
        assert source["digest"]["sha256"] == held[f"example_spring_solver/{name}"]
        assert source["digest"]["sha256"] in known


@pytest.mark.parametrize("name", ["solver.tar", "adapter.py", "adapter_validation.json"])
def test_a_changed_source_is_not_installed(published: Any, make_lab: Any, name: str) -> None:
    _, view = published
    lab, wheel = make_lab(), package(view)
    for path in wheel.parent.iterdir():
        shutil.copy(path, lab.folder / path.name)
    changed = lab.folder / wheel.name
    changed.write_bytes(_with_other(wheel, f"example_spring_solver/{name}"))

    done = lab("plugin", "install", changed)

    assert done.code == 7
    assert not list(lab.home.glob("plugins/generated/*"))


def _with_other(wheel: Path, member: str) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(wheel) as given, zipfile.ZipFile(sink, "w") as taken:
        for entry in given.infolist():
            content = given.read(entry)
            taken.writestr(entry, content + b"\n" if entry.filename == member else content)
    return sink.getvalue()


def test_an_installed_solver_with_another_byte_is_not_run(published: Any) -> None:
    lab, _ = published
    (lab.folder / "in.csv").write_text("frequency,damping\n1,1\n")
    (part,) = lab.home.glob("plugins/generated/example.spring_solver/*/*/adapter.py")
    content, mark = part.read_bytes(), lab.folder / "mark"
    part.write_bytes(content + f"\nopen({str(mark)!r}, 'w')\n".encode())

    done = lab("solve", "example.spring_solver", "in.csv", "-o", "never.csv")

    part.write_bytes(content)
    assert (done.code, mark.exists()) == (7, False)


def test_an_adapter_is_no_predictor(published: Any) -> None:
    lab, _ = published
    (lab.folder / "in.csv").write_text("frequency,damping\n1,1\n")

    done = lab("predict", "example.spring_solver", "in.csv", "-o", "p.csv")

    assert done.code == 2
    assert "harness solve" in done.err


def test_installing_prints_what_nobody_has_checked(published: Any, make_lab: Any) -> None:
    _, view = published

    done = make_lab()("plugin", "install", package(view), code=0)

    assert "independent_binary_review_performed: false" in done.err
    assert all(statement in done.err for statement in STATEMENTS)


def test_an_installed_solver_is_a_step_of_a_run(published: Any) -> None:
    lab, _ = published
    (lab.folder / "cases.csv").write_text("frequency,damping\n1,5\n")
    contract = {
        "schema": "research-contract-v1",
        "title": "Solve",
        "goal": "Solve the cases.",
        "inputs": [{"name": "cases", "path": "cases.csv", "role": "other"}],
        "capabilities": ["example.spring_solver.solve"],
        "acceptance": [{"metric": "task_completion", "op": ">=", "value": 1}],
        "holdout": "none",
        "steps": [
            {"id": "solve", "use": "example.spring_solver.solve", "inputs": {"data": "cases"}}
        ],
    }
    (lab.folder / "solve.yaml").write_text(json.dumps(contract))

    view = lab("run", "solve.yaml", "--json", code=0).json

    assert lab.artifact(view, "solved.csv").read_text() == "sample_id,response\n0,0.1\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"smoke": {"args": ["--version"], "expect_exit": 3}}, "did not pass: solver"),
        ({"smoke": {"args": ["--wrong"]}}, "did not pass: solver"),
    ],
    ids=["another exit code", "an unknown argument"],
)
def test_a_failed_smoke_test_is_not_published(
    lab: Any, spring: Any, change: dict[str, Any], said: str
) -> None:
    solver = type(spring)(spring.folder, {**spring.block, **change})
    accepted = {"acceptance": [{"metric": "adapter_validated", "op": ">=", "value": 0}]}
    contract = lab.contract(solver, [ADAPT, SMOKE], **{**PUBLISHED, **accepted})

    done = lab("run", contract, "--json")

    assert done.code == 6
    assert said in done.json["error"]["message"]
    assert not list(lab.home.glob("plugins/generated/*"))


def test_without_the_permission_nothing_is_published(lab: Any, spring: Any) -> None:
    contract = lab.contract(spring, [ADAPT, SMOKE], **{**PUBLISHED, "permissions": {}})

    done = lab("check", contract, "--json")

    assert done.code == 3
    assert "publish_plugins" in done.out


def test_an_adapter_of_the_user_is_published_as_it_is(lab: Any, spring: Any) -> None:
    source = lab.folder / "mine.py"
    source.write_text(MINE)
    contract = lab.contract(spring, [{**SMOKE, "inputs": {**SMOKE["inputs"], "program": "mine"}}])
    values = {**json.loads(contract.read_text()), **PUBLISHED}
    values["inputs"].append({"name": "mine", "path": "mine.py"})
    contract.write_text(json.dumps(values))
    lab("run", contract, code=0)
    (lab.folder / "any.txt").write_text("anything\n")

    lab("solve", "example.spring_solver", "any.txt", "-o", "out.txt", code=0)

    assert (lab.folder / "out.txt").read_text() == "bin/solve: anything\n"


MINE = """
import argparse
import pathlib

parser = argparse.ArgumentParser()
parser.add_argument("--solver-root", required=True)
parser.add_argument("--solver-executable", required=True)
parser.add_argument("--input", required=True)
parser.add_argument("--output", required=True)
given = parser.parse_args()
text = pathlib.Path(given.input).read_text()
pathlib.Path(given.output).write_text(f"{given.solver_executable}: {text}")
"""


def test_a_program_without_the_fixed_options_is_no_adapter(lab: Any, spring: Any) -> None:
    mark = lab.folder / "mark"
    (lab.folder / "mine.py").write_text(f"open({str(mark)!r}, 'w')\nprint('help')\n")
    contract = lab.contract(spring, [{**SMOKE, "inputs": {**SMOKE["inputs"], "program": "mine"}}])
    values = {**json.loads(contract.read_text()), **PUBLISHED}
    values["inputs"].append({"name": "mine", "path": "mine.py"})
    contract.write_text(json.dumps(values))

    done = lab("run", contract, "--json")

    assert done.code == 1
    assert not mark.exists()
