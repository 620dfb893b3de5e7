"""The Local Executor: metrics and outputs come out, limits hold, failures are told apart."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sciharness import Context, Input, Launch, Outcome
from sciharness.errors import DataError, RequestError
from sciharness.programs import ActionFailed, isolation
from sciharness_program_runner.requests import RunRequest
from sciharness_program_runner.running import run, time_limit

Start = Callable[..., Outcome]

PROGRAM = """
import argparse, json
parser = argparse.ArgumentParser()
parser.add_argument("--training-npz", required=True)
text = open(parser.parse_args().training_npz).read()
json.dump({"metrics": {"letters": len(text)}}, open("result.json", "w"))
open("table.csv", "w").write("a\\n1\\n")
open("more.txt", "w").write("left over")
"""


def test_metrics_and_declared_outputs_come_out(start: Start, out: Path) -> None:
    found = start(PROGRAM, {"training_npz": "hello"}, outputs={"table.csv": "DATASET"})
    assert found.metrics == {"letters": 5.0}
    assert {path.name for path in out.iterdir()} == {"table.csv", "result.json", "run_record.json"}
    assert any("not declared, so not kept: more.txt" in note for note in found.notes)
    record = json.loads((out / "run_record.json").read_text())
    assert record["arguments"] == ["--training-npz", "{artifact:training_npz}"]
    assert record["trusted"] is False


def test_what_is_confined_is_said(start: Start) -> None:
    notes = start("pass").notes
    expected = {"none": "not confined", "landlock": "Landlock"}.get(isolation(), "seccomp")
    assert expected in notes[0]
    assert "no sandbox" in notes[1]


def test_a_source_whose_options_are_not_given_is_not_started(start: Start, tmp_path: Path) -> None:
    mark = tmp_path / "work" / "program"
    with pytest.raises(RequestError, match="requires --training-npz, and is given: --other"):
        start(PROGRAM, {"other": "x"})
    assert not mark.exists()


def test_what_is_no_python_is_not_started(start: Start) -> None:
    with pytest.raises(DataError, match="no Python at line 1"):
        start("def f(:")


RESULTS: dict[str, tuple[str, str]] = {
    "nan": ('{"metrics": {"a": NaN}}', "a: a metric is a finite number"),
    "infinite": ('{"a": 1e999}', "a: a metric is a finite number"),
    "text": ('{"metrics": {"a": "1"}}', "finite number"),
    "truth": ('{"metrics": {"a": true}}', "finite number"),
    "huge": ('{"metrics": {"a": ' + "9" * 400 + "}}", "finite number"),
    "list": ("[1]", "no JSON object"),
    "broken": ("{", "no JSON"),
    "twice": ('{"a": 1, "a": 2}', "twice"),
    "no object": ('{"metrics": [1]}', "has to be an object"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_that_is_no_result_fails_the_action(name: str, start: Start) -> None:
    text, reason = RESULTS[name]
    with pytest.raises(ActionFailed, match=reason):
        start(f"open('result.json', 'w').write({text!r})")


def test_plain_numbers_of_the_result_are_metrics_too(start: Start) -> None:
    source = 'open(\'result.json\', \'w\').write(\'{"a": 1, "note": "x", "b": 2.5}\')'
    assert start(source).metrics == {"a": 1.0, "b": 2.5}


LEFT: dict[str, tuple[str, str]] = {
    "missing": ("pass", "not written: t.csv"),
    "link": ("import os; os.symlink('/etc/passwd', 't.csv')", "no regular file"),
    "folder": ("import os; os.mkdir('t.csv')", "no regular file"),
    "pipe": ("import os; os.mkfifo('t.csv')", "no regular file"),
    "second name": ("import os; open('a', 'w'); os.link('a', 't.csv')", "no regular file"),
}


@pytest.mark.parametrize("name", LEFT)
def test_an_output_that_is_no_file_of_its_own_is_not_taken(
    name: str, start: Start, out: Path
) -> None:
    source, reason = LEFT[name]
    with pytest.raises(ActionFailed, match=reason):
        start(source, outputs={"t.csv": "DATASET"})
    assert not (out / "t.csv").exists()


def test_a_result_that_is_a_link_is_not_followed(start: Start) -> None:
    with pytest.raises(ActionFailed, match="no regular file"):
        start("import os; os.symlink('/etc/passwd', 'result.json')")


@pytest.mark.parametrize(
    ("name", "kind", "reason"),
    [
        ("../x", "OTHER", "no plain file name"),
        (".pyc", "OTHER", "no plain file name"),
        ("result.json", "OTHER", "kept already"),
        ("v.json", "adapter_validation", "not a program's to give"),
        ("e.json", "Predictor.Evaluation", "not a program's to give"),
    ],
)
def test_some_outputs_are_not_a_programs_to_declare(
    name: str, kind: str, reason: str, start: Start
) -> None:
    with pytest.raises(RequestError, match=reason):
        start("pass", outputs={name: kind})


FAILURES: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "exit": ("raise SystemExit(3)", {}, "error", "exit code 3"),
    "error": ("1/0", {}, "error", "ZeroDivisionError"),
    "memory": ("x = bytearray(2**40)", {}, "memory", "memory failure while it ran"),
    "killed": ("import os; os.kill(os.getpid(), 9)", {}, "memory", "memory failure"),
    "abort": ("import os; os.abort()", {}, "crash", "crash"),
    "time": ("import time; time.sleep(600)", {"timeout": 1.0}, "timeout", "time limit"),
    "print": ("while True: print('x' * 10000)", {}, "output_limit", "output_limit"),
    "file": (
        "f = open('x', 'wb')\nfor _ in range(3): f.write(bytes(2**20)); f.flush()",
        {"output_mib": 1},
        "file_limit",
        "file_limit",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_are_told_apart(name: str, start: Start) -> None:
    source, fields, reason, said = FAILURES[name]
    with pytest.raises(ActionFailed, match=said) as caught:
        start(source, **fields)
    assert caught.value.reason == reason


def test_memory_that_lacks_at_import_is_told_as_such(start: Start) -> None:
    # 40 MiB hold the interpreter; the libraries of numpy do not fit.
    with pytest.raises(ActionFailed, match="memory failure at import") as caught:
        start("import numpy\nprint('imported')", memory_mib=60)
    assert caught.value.reason == "memory"


def test_no_credential_of_the_caller_reaches_a_program(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "PLANTED-KEY")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "PLANTED-KEY")
    source = (
        "import os\nsaid = repr(os.environ)\n"
        "try: said += open(f'/proc/{os.getppid()}/environ').read()\n"
        "except OSError: pass\n"
        "print('leaked' if 'PLANTED' in said else 'clean')"
    )
    assert start(source).notes[-1].endswith("clean")


@pytest.mark.skipif(isolation() == "none", reason="nothing is confined on this machine")
def test_a_program_reads_its_inputs_and_nothing_of_the_user(start: Start, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("SECRET")
    source = (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--data')\n"
        "print(open(p.parse_args().data).read())\n"
        f"try: print(open({str(tmp_path / 'secret.txt')!r}).read())\n"
        "except OSError as error: print('not read:', error.strerror)"
    )
    assert start(source, {"data": "mine"}).notes[-1].endswith("not read: Permission denied")


@pytest.mark.skipif(isolation() != "landlock+seccomp", reason="the network stays open here")
def test_a_program_has_no_network(start: Start) -> None:
    source = "import socket\ntry: socket.socket()\nexcept OSError: print('no network')"
    assert start(source).notes[-1].endswith("no network")


def test_modules_beside_the_program_are_not_found(start: Start) -> None:
    source = "try: import sitecustomize_of_mine\nexcept ImportError: print('none')"
    assert start(source).notes[-1].endswith("none")


@pytest.mark.parametrize(
    ("fields", "left", "expected"),
    [
        ({}, None, 300.0),
        ({"expected_solver_calls": 700}, None, 1000.0),
        ({"expected_solver_calls": 10**6}, None, 7200.0),
        ({"timeout": 20.0}, None, 20.0),
        ({"timeout": 9000.0}, None, 300.0),
        ({"timeout": 20.0}, 7.0, 7.0),
    ],
)
def test_the_strictest_time_limit_wins(
    fields: dict[str, Any], left: float | None, expected: float
) -> None:
    assert time_limit(RunRequest(**fields), left) == expected


def test_expected_solver_calls_are_charged(start: Start) -> None:
    heard: list[dict[str, Any]] = []
    start("pass", expected_solver_calls=12, emit=heard.append)
    assert {"charge": {"solver_calls": 12}} in heard


@pytest.mark.skipif(os.name != "posix", reason="asks for env")
def test_the_launch_of_an_executor_is_heeded(start: Start) -> None:
    launch = Launch(prefix=("/usr/bin/env", "FROM_PREFIX=1"), environment={"FROM_LAUNCH": "2"})
    source = "import os; print(os.environ['FROM_PREFIX'], os.environ['FROM_LAUNCH'])"
    assert start(source, launch=launch).notes[-1].endswith("1 2")


def test_a_folder_is_given_as_a_folder(tmp_path: Path) -> None:
    folder, program = tmp_path / "inputs" / "mysolver", tmp_path / "p.py"
    folder.mkdir(parents=True)
    (folder / "data.txt").write_text("inside")
    program.write_text(
        "import argparse, pathlib\np = argparse.ArgumentParser()\n"
        "p.add_argument('--solver-source', required=True)\n"
        "print(pathlib.Path(p.parse_args().solver_source, 'data.txt').read_text())"
    )
    given = {
        "program": Input("program", program, "source.python"),
        "solver_source": Input("solver_source", folder, "directory_bundle"),
    }
    (tmp_path / "work").mkdir()
    context = Context(inputs=given, workspace=tmp_path / "work")
    assert run(RunRequest(), context).notes[-1].endswith("inside")


def test_a_program_stops_when_the_run_asks(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("import time\nwhile True: time.sleep(1)\n")
    given = {"program": Input("program", tmp_path / "p.py", "source.python")}
    (tmp_path / "work").mkdir()
    context = Context(inputs=given, workspace=tmp_path / "work", is_cancelled=lambda: True)
    with pytest.raises(ActionFailed, match="stopped on request") as caught:
        run(RunRequest(), context)
    assert caught.value.reason == "cancelled"
