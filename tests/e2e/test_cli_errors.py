"""What bad input gets: one clear error, the right exit code, nothing half-written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SMALL = {
    "schema": "research-contract-v1",
    "title": "Small",
    "goal": "See it refused.",
    "capabilities": ["toy.nothing"],
    "acceptance": [{"metric": "value", "op": ">=", "value": 1}],
    "holdout": "none",
}
TABLE = {"name": "data", "path": "data.csv", "role": "labelled_table"}

HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "NUL bytes": b"\x00" * 20,
    "not UTF-8": b"title: \xe9",
    "UTF-16": json.dumps(SMALL).encode("utf-16"),
    "deep lists": b"[" * 100_000,
    "deep maps": b"{a: " * 5000,
    "a long integer": b"seed: " + b"9" * 6000,
    "an alias": b"a: &x [1]\nb: *x",
    "a tag": b"a: !!python/object/apply:os.system [ls]",
    "a second document": b"a: 1\n---\nb: 2",
    "a key twice": b"title: a\ntitle: b",
    "NaN": b"a: .nan",
    "a list": b"- a",
    "over 4 MiB": b"a: " + b"x" * 5_000_000,
}
FIELDS: dict[str, dict[str, Any]] = {
    "an unknown key": {"budgets": {}},
    "a misspelt budget key": {"budget": {"action": 3}},
    "true as a count": {"budget": {"actions": True}},
    "a bare duration": {"budget": {"wall_time": 60}},
    "a seed past 2^53": {"seed": 2**60},
    "a lone surrogate": {"title": "a\ud800"},
    "a control character": {"title": "a\x1b[31m"},
    "a long title": {"title": "x" * 121},
    "no criterion": {"acceptance": []},
    "a metric nobody reports": {"acceptance": [{"metric": "valu", "op": ">=", "value": 1}]},
    "an absolute path": {"inputs": [{**TABLE, "path": "/etc/passwd"}]},
    "a long path": {"inputs": [{**TABLE, "path": "a/" * 3000}]},
    "a missing file": {"inputs": [{**TABLE, "path": "dat.csv"}]},
    "a folder": {"inputs": [{**TABLE, "path": "."}]},
    "21 inputs": {"inputs": [{**TABLE, "name": f"d{n}", "role": "other"} for n in range(21)]},
    "an unknown capability": {"capabilities": ["toy.nothin"]},
    "a deliverable nobody makes": {"deliver": ["predictor_plugin"]},
    "a request past its schema": {"steps": [{"id": "a", "use": "toy.nothing", "with": {"x": 1}}]},
    "a trusted criterion without labels": {
        "acceptance": [{"metric": "value", "op": ">=", "value": 1, "trusted": True}]
    },
}


@pytest.fixture(scope="module")
def made(fresh: Callable[..., Any]) -> Any:
    found = fresh("hostile")
    found.table()
    return found


def assert_refused(made: Any, conforms: Callable[[str, Any], None]) -> None:
    ended = made("run", "c.yaml", "--json", code=3)

    conforms("error", ended.json)
    assert ended.json["problems"] and ended.json["error"]["kind"] in ("contract", "data", "request")
    assert "Traceback" not in ended.err
    assert not (made.folder / "c.lock").exists()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_contract_is_refused(
    made: Any, name: str, conforms: Callable[[str, Any], None]
) -> None:
    (made.folder / "c.yaml").write_bytes(HOSTILE[name])

    assert_refused(made, conforms)


@pytest.mark.parametrize("name", FIELDS)
def test_a_wrong_field_is_refused(
    made: Any, name: str, conforms: Callable[[str, Any], None]
) -> None:
    text = json.dumps({**SMALL, **FIELDS[name]})
    (made.folder / "c.yaml").write_text(text, "utf-8")

    assert_refused(made, conforms)


def test_a_refused_contract_leaves_nothing(made: Any) -> None:
    assert made("list", "--json", code=0).json == {"runs": []}
    assert list((made.home / "objects").iterdir()) == []
    assert list((made.home / "vault").iterdir()) == []
    assert list((made.home / "tmp").iterdir()) == []


def test_all_problems_come_at_once_with_their_places(
    harness: Any, conforms: Callable[[str, Any], None]
) -> None:
    (harness.folder / "c.yaml").write_text(
        "schema: research-contract-v1\n"
        "titel: A line\n"
        "goal: Find it.\n"
        "capabilities: [toy.ft, evaluation.regression]\n"
        "inputs:\n"
        "  - {name: data, path: nothing.csv, role: labelled_tabel}\n"
        "acceptance:\n"
        "  - {metric: relative_rmse, op: '=', value: 0.05}\n"
        "budget: {actions: none}\n",
        "utf-8",
    )

    checked = harness("check", "c.yaml", "--json", code=3)
    said = harness("check", "c.yaml", code=3)

    conforms("check", checked.json)
    places = {item["path"]: item["line"] for item in checked.json["problems"]}
    hints = " ".join(item["hint"] for item in checked.json["problems"])
    assert (
        places.items()
        >= {
            "titel": 2,
            "capabilities[0]": 4,
            "inputs[0].role": 6,
            "acceptance[0].op": 8,
            "budget.actions": 9,
        }.items()
    )
    assert "`title`" in hints and "`labelled_table`" in hints
    assert "c.yaml:2" in said.err


def test_check_agrees_with_run(harness: Any, conforms: Callable[[str, Any], None]) -> None:
    harness.table()
    harness.contract()

    checked = harness("check", "c.yaml", "--json", code=0).json
    dry = harness("run", "c.yaml", "--dry-run", "--json", code=0).json

    conforms("check", checked)
    assert checked == dry
    assert checked["ok"] is True and checked["problems"] == []
    assert [item["name"] for item in checked["inputs"]] == ["data"]
    assert harness("list", "--json", code=0).json == {"runs": []}
    assert not (harness.folder / "c.lock").exists()


def test_a_broken_table_is_refused_with_its_place(harness: Any) -> None:
    lines = harness.table().read_text("utf-8").splitlines()
    lines[7] = lines[7].rpartition(",")[0] + ",much"
    (harness.folder / "data.csv").write_text("\n".join(lines), "utf-8")
    harness.contract()

    refused = harness("run", "c.yaml", "--json", code=3)

    (problem,) = refused.json["problems"]
    assert (problem["kind"], problem["file"], problem["line"]) == ("data", "data.csv", 8)
    assert list((harness.home / "vault").iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["frobnicate"],
        ["run"],
        ["run", "c.yaml", "--nope"],
        ["run", "c.yaml", "--workers", "0"],
        ["show", "nope"],
        ["plugin", "frobnicate"],
        ["list", "extra"],
        ["resume", "7"],
        ["verify", "nope"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_ends_with_2(
    made: Any, words: list[str], conforms: Callable[[str, Any], None]
) -> None:
    plain = made(*words, code=2)
    printed = made(*words, "--json", code=2)

    assert plain.out == "" and "Error" in plain.err and "Traceback" not in plain.err
    conforms("error", printed.json)
    assert printed.json["error"]["kind"] == "usage"


def test_the_nearest_verb_is_named(made: Any) -> None:
    assert "Did you mean 'run'" in made("runn", "c.yaml", code=2).err


@pytest.mark.parametrize("word", ["missing.yaml", "."])
def test_a_contract_that_is_no_file_is_refused(made: Any, word: str) -> None:
    for verb in ("run", "new", "check", "lock"):
        refused = made(verb, word, code=3)
        assert "Traceback" not in refused.err


@pytest.fixture(params=["other files", "a file", "no place"])
def bad_home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "other files":
        (tmp_path / "photo.jpg").write_text("a photo", "utf-8")
        return tmp_path
    if request.param == "a file":
        (tmp_path / "file").write_text("text", "utf-8")
        return tmp_path / "file"
    return Path("/proc/nowhere")


def test_a_folder_that_is_no_home_is_left_alone(made: Any, bad_home: Path) -> None:
    before = sorted(bad_home.iterdir()) if bad_home.is_dir() else []

    refused = made("list", "--json", code=2, HARNESS_HOME=str(bad_home))

    assert refused.json["error"]["kind"] == "usage"
    assert (sorted(bad_home.iterdir()) if bad_home.is_dir() else []) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_that_cannot_be_written_is_refused(harness: Any) -> None:
    harness.home.chmod(0o500)
    try:
        assert "cannot be written" in harness("list", code=2).err
    finally:
        harness.home.chmod(0o700)


def test_a_damaged_database_is_told_as_such(harness: Any) -> None:
    (harness.home / "harness.db").write_bytes(b"not a database" * 1000)
    for name in ("harness.db-wal", "harness.db-shm"):
        (harness.home / name).unlink(missing_ok=True)

    refused = harness("list", "--json", code=7)

    assert refused.json["error"]["kind"] == "integrity"


def test_a_reader_that_leaves_early_is_no_fault(made: Any) -> None:
    command = made.start("schema")
    assert command.stdout is not None
    command.stdout.close()

    assert command.wait(timeout=60) == 0
    assert command.stderr is not None and "Traceback" not in command.stderr.read()


def test_help_of_every_command_fits_a_screen_and_ends_in_an_example(made: Any) -> None:
    from sciharness.cli import COMMANDS

    for name in COMMANDS:
        shown = made(name, "--help", code=0, COLUMNS="100").out.rstrip().splitlines()
        assert len(shown) <= 40, name
        assert any(line.strip().startswith("Example: harness") for line in shown[-3:]), name


def test_the_schema_is_a_json_schema(made: Any) -> None:
    from jsonschema import Draft202012Validator

    schema = made("schema", code=0).json

    Draft202012Validator.check_schema(schema)
    assert not list(Draft202012Validator(schema).iter_errors(SMALL))


@pytest.mark.parametrize("options", [[], ["--pipeline"]], ids=["plain", "pipeline"])
def test_init_writes_a_contract_that_checks_once_its_data_are_there(
    harness: Any, options: list[str]
) -> None:
    alone = {"PYTHONPATH": ""}  # first-party plugins only
    installed = harness("plugin", "list", "--json", code=0, **alone).json["plugins"]
    if {one["state"] for one in installed if one["origin"] == "first_party"} != {"admitted"}:
        pytest.skip("the first-party plugins are not installed as approved")
    harness.table()
    harness("init", "c.yaml", *options, code=0, **alone)

    checked = harness("check", "c.yaml", "--json", **alone)

    assert [item["found"] for item in checked.json["problems"]] == []
    assert "publish_plugins: false" in (harness.folder / "c.yaml").read_text("utf-8")
    assert "the file exists" in harness("init", "c.yaml", *options, code=2, **alone).err


def test_doctor_says_what_there_is(harness: Any) -> None:
    found = harness("doctor", "--json", code=0).json

    assert found["versions"]["python"] and found["machine"]["cores"] >= 1
    assert found["isolation"]["label_isolation"] in ("landlock+seccomp", "landlock", "none")
    assert found["plugins"]["toy"].startswith("1.0 admitted")
    assert found["home"]["problems"] == []
    assert "label_isolation" in harness("doctor", code=0).out


def test_what_happens_is_logged_on_request(harness: Any) -> None:
    (harness.folder / "c.yaml").write_text(json.dumps(SMALL), "utf-8")

    quiet = harness("run", "c.yaml", code=0)
    told = harness("--verbose", "run", "c.yaml", code=0)

    assert "ActionFinished" not in quiet.err
    assert "event='ActionFinished' run='00002" in told.err
    assert told.out.splitlines()[1] == quiet.out.splitlines()[1] == "status: succeeded"
