"""A plugin that hunts for sealed labels finds none; unconfined, the same hunt finds them."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sciharness.errors import ContractError, PluginError
from sciharness.workers import confinement
from sciharness.workers.child import Grants, child_environment, run_child
from sciharness.workers.pool import JobResult, Workers

Act = Callable[..., JobResult]

FILES = {
    "open",
    "walk",
    "relative",
    "link",
    "hard link",
    "folder descriptor",
    "parent's root",
    "own root",
    "cat",
    "interpreter",
    "new session",
    "thread",
    "sqlite",
}
HELPERS = {"unix socket", "abstract socket", "tcp"}


@pytest.fixture(scope="module")
def clues(home: Path) -> Iterator[Mapping[str, str]]:
    """Paths and addresses of the secret: helpers outside would hand it over."""
    labels = home / "vault" / "labels.csv"
    database = sqlite3.connect(labels.with_name("labels.db"))
    database.execute("CREATE TABLE labels (y TEXT)")
    database.execute("INSERT INTO labels VALUES ('SECRET-LABEL')")
    database.commit()
    database.close()
    servers = [socket.socket(family) for family in (socket.AF_UNIX, socket.AF_UNIX, socket.AF_INET)]
    path = str(home / "helper")
    abstract = f"sciharness-test-{os.getpid()}"
    addresses: tuple[Any, ...] = (path, "\0" + abstract, ("127.0.0.1", 0))
    for server, address in zip(servers, addresses, strict=True):
        server.bind(address)
        server.listen()
        threading.Thread(target=hand_over, args=(server, labels), daemon=True).start()
    port = str(servers[2].getsockname()[1])
    yield {"secret": str(labels), "unix": path, "abstract": abstract, "tcp": port}
    for server in servers:
        server.close()


def hand_over(server: socket.socket, labels: Path) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.sendall(labels.read_bytes())


def test_unconfined_the_hunt_finds_the_labels(
    clues: Mapping[str, str], site: Path, tmp_path: Path
) -> None:
    code = (
        "import sys, json; sys.path.insert(0, sys.argv[1]); from pathlib import Path;"
        "from harness_liar.hunting import hunt;"
        "print(json.dumps(hunt(json.loads(sys.argv[2]), Path('.'))))"
    )

    said = run_child(
        [sys.executable, "-c", code, str(site), json.dumps(clues)], cwd=tmp_path, grants=None
    )

    # The hard link fails where the temporary folder is on another file system than the home.
    assert set(json.loads(said.stdout)) >= (FILES | HELPERS) - {"hard link"}


@pytest.mark.usefixtures("confined")
@pytest.mark.parametrize("operation", ["liar.hunt", "liar.judge"])
def test_confined_it_finds_nothing(act: Act, clues: Mapping[str, str], operation: str) -> None:
    found = act(operation, {"text": json.dumps(clues)}, fresh=operation == "liar.judge").notes

    assert found == ()


@pytest.mark.usefixtures("confined")
def test_a_plugin_with_network_access_still_reads_no_file(
    act: Act, clues: Mapping[str, str]
) -> None:
    found = act("liar.online", {"text": json.dumps(clues)}).notes

    assert set(found) <= HELPERS
    assert "tcp" in found


def test_a_plugin_with_network_access_gets_no_labels(act: Act) -> None:
    with pytest.raises(PluginError, match="never given labels"):
        act("liar.online", {"text": "{}"}, private=True)


@pytest.mark.usefixtures("confined")
def test_an_evaluator_reads_the_labels_it_was_given(act: Act, home: Path) -> None:
    labels = home / "vault" / "labels.csv"

    judged = act("tiny.judge", inputs={"labels": labels}, fresh=True, private=True)

    assert "SECRET-LABEL" in judged.notes[0]


@pytest.mark.usefixtures("confined")
def test_an_input_folder_that_holds_the_home_is_refused(act: Act, home: Path) -> None:
    with pytest.raises(ContractError, match="can be read") as caught:
        act("tiny.judge", inputs={"labels": home.parent}, fresh=True)

    assert caught.value.exit_code == 3


@pytest.mark.usefixtures("confined")
def test_a_home_beneath_a_granted_folder_is_refused(
    act: Act, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_READ_PATHS", str(home.parent))

    with Workers(tmp_path, hidden=(home,)) as workers:
        with pytest.raises(ContractError, match="HARNESS_READ_PATHS"):
            act("tiny.nothing", workers=workers)
        with pytest.raises(ContractError, match="can be read"):
            workers.check_isolation()


@pytest.mark.usefixtures("confined")
def test_a_home_in_shared_memory_is_hidden_too(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as home:
        Path(home, "labels.csv").write_text("SECRET-LABEL", "utf-8")
        reading = [sys.executable, "-c", f"print(open({home + '/labels.csv'!r}).read())"]
        exposed, hidden = (
            run_child(reading, cwd=tmp_path, grants=Grants(hidden=names))
            for names in ((), (Path(home),))
        )

    assert (exposed.stdout, hidden.stdout) == (b"SECRET-LABEL\n", b"")


@pytest.mark.usefixtures("confined")
def test_a_setting_adds_read_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "library").write_text("code", "utf-8")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    reading = [sys.executable, "-c", f"print(open({str(elsewhere / 'library')!r}).read())"]
    grants = Grants(write=(workspace,))

    before = run_child(reading, cwd=workspace, grants=grants)
    monkeypatch.setenv("HARNESS_READ_PATHS", str(elsewhere))
    after = run_child(reading, cwd=workspace, grants=grants)

    assert (before.returncode, after.stdout) == (1, b"code\n")


@pytest.mark.usefixtures("confined")
def test_a_child_writes_and_runs_only_where_it_may(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (tmp_path / "kept").write_text("kept", "utf-8")
    code = """
import os, shutil
def tried(action, *given):
    try:
        action(*given)
        return True
    except OSError:
        return False
shutil.copy('/bin/true', 'copied')
print(tried(open, 'new', 'w'), tried(open, '../new', 'w'), tried(os.remove, '../kept'),
      tried(os.mkdir, '../folder'), tried(os.truncate, '../kept', 0),
      tried(os.execv, os.path.abspath('copied'), ['copied']))
"""

    said = run_child([sys.executable, "-c", code], cwd=workspace, grants=Grants(write=(workspace,)))

    assert said.stdout.split() == [b"True"] + [b"False"] * 5
    assert (tmp_path / "kept").read_text("utf-8") == "kept"


@pytest.mark.usefixtures("confined")
def test_libraries_work_confined(tmp_path: Path) -> None:
    code = """
import multiprocessing, numpy, os, subprocess, threading, tempfile
multiprocessing.set_start_method("fork")
with multiprocessing.Pool(2) as pool:
    squares = pool.map(abs, [1, -2])
memory = multiprocessing.shared_memory if hasattr(multiprocessing, "shared_memory") else None
lock = multiprocessing.Lock()
subprocess.run(["true"], stdin=subprocess.DEVNULL, check=True)
with tempfile.TemporaryFile() as file:
    numpy.save(file, numpy.linalg.inv(numpy.eye(3)))
print(squares, os.cpu_count() > 0, open("/proc/self/status").readline().split()[0])
"""

    said = run_child([sys.executable, "-c", code], cwd=tmp_path, grants=Grants(write=(tmp_path,)))

    assert said.stderr == b""
    assert said.stdout == b"[1, 2] True Name:\n"


@pytest.mark.slow
@pytest.mark.usefixtures("confined")
@pytest.mark.parametrize(
    ("library", "code"),
    [
        ("scipy", "import scipy.optimize as o; o.minimize(lambda x: (x - 1) ** 2, 0)"),
        ("sklearn", "from sklearn.cluster import KMeans; KMeans(2).fit([[0.0], [1.0], [5.0]])"),
        (
            "sklearn",
            "from sklearn.ensemble import RandomForestRegressor as Forest;"
            "Forest(20, n_jobs=2).fit([[0.0], [1.0], [5.0]], [0, 1, 2])",
        ),
        (
            "matplotlib",
            "import matplotlib; matplotlib.use('Agg'); import matplotlib.pyplot as plot;"
            "plot.plot([1, 2]); plot.title('$x^2$'); plot.savefig('a.svg'); plot.savefig('a.png')",
        ),
        (
            "pyarrow",
            "import pandas; pandas.DataFrame({'a': [1.5]}).to_parquet('a.parquet');"
            "pandas.read_parquet('a.parquet')",
        ),
        ("pandas", "import pandas; pandas.Timestamp('2020-01-01').tz_localize('Europe/Zurich')"),
        ("pyoperon", "import pyoperon; pyoperon.Dataset"),
        ("sympy", "import sympy; sympy.latex(sympy.Symbol('x') ** 2)"),
    ],
)
def test_scientific_libraries_work_confined(tmp_path: Path, library: str, code: str) -> None:
    pytest.importorskip(library)

    said = run_child([sys.executable, "-c", code], cwd=tmp_path, grants=Grants(write=(tmp_path,)))

    assert (said.returncode, said.failure) == (0, None), said.stderr.decode()


def test_a_host_hides_its_start_environment(tmp_path: Path) -> None:
    code = (
        "import ctypes, sys; from pathlib import Path;"
        "from sciharness.workers.child import run_child;"
        "run_child([sys.executable, '-c', ''], cwd=Path(sys.argv[1]), grants=None);"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"  # PR_GET_DUMPABLE
    )

    said = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert said.stdout.strip() == "0"


def test_the_probe_says_none_where_there_is_no_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciharness.workers.landlock.abi", lambda: 0)
    assert confinement.probe() == "none"

    monkeypatch.setattr("sciharness.workers.landlock.abi", lambda: 1)
    monkeypatch.setattr("sciharness.workers.seccomp.machine", lambda: "")
    assert confinement.probe() == "landlock"


@pytest.mark.usefixtures("confined")
def test_confinement_with_threads_running_is_refused() -> None:
    code = (
        "import threading, time; from sciharness.workers.confinement import confine;"
        "threading.Thread(target=time.sleep, args=(5,), daemon=True).start(); confine()"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert "other threads run already" in said.stderr


def test_the_environment_of_a_child_holds_no_credential(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "PYTHONPATH"):
        monkeypatch.setenv(name, "PLANTED")
    code = (
        "import os, sys; print(dict(os.environ), sys.argv, sorted(os.listdir('/proc/self/fd')));"
        "print(os.environ['HOME'], os.environ['TMPDIR'], os.environ['OMP_NUM_THREADS'])"
    )

    said = run_child(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=child_environment(tmp_path, 3),
        grants=Grants(write=(tmp_path,)),
    )

    assert b"PLANTED" not in said.stdout
    assert b"['0', '1', '2', '3']" in said.stdout  # 3 is the listing itself
    last = said.stdout.decode().splitlines()[-1].split()
    assert last == [str(tmp_path / ".home"), str(tmp_path / ".tmp"), "3"]
