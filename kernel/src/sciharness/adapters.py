"""Solver adapters by file-solver-adapter-v1: the interface, the smoke test, its record.

An adapter is a Python program with the fixed options ``--solver-root``,
``--solver-executable``, ``--input`` and ``--output``. The record of its smoke
test binds the adapter's source and the solver's bundle by their SHA-256.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from attrs import frozen

from sciharness.bundles import pack_folder
from sciharness.errors import DataError, HarnessError, IntegrityError
from sciharness.plugin import Input
from sciharness.programs import ChildResult, Grants, Limits, child_environment, run_child

INTERFACE = "file-solver-adapter-v1"
OPTIONS = ("--solver-root", "--solver-executable", "--input", "--output")
SCHEMA = "adapter-validation-v1"
RECORD = ("adapter_validation.json", "adapter_validation")
SMOKE_SECONDS = 60.0
SMOKE_BYTES = 1024 * 1024
STATEMENTS = (
    "independent_binary_review_performed=false: no malware scan, no check of signatures, no "
    "authentication of the origin, no review of the binary was made.",
    "Digests and attestation state which three artifacts a package came from. They are neither "
    "code signing nor a verdict of safety.",
    "Record and attestation do not prove that the smoke test ran.",
    "Adapter and solver run as ordinary child processes with the rights of the user who calls.",
)

Json = dict[str, Any]  # Any: JSON values


@frozen
class Validation:
    """What a smoke test found; ``passed`` if every check did."""

    record: Json

    @property
    def passed(self) -> bool:
        """Whether adapter and solver did what the contract says."""
        return bool(self.record["status"] == "passed")

    def to_bytes(self) -> bytes:
        """Return the record as it is stored: no times, so that equal tests give equal bytes."""
        return (json.dumps(self.record, indent=2, sort_keys=True, allow_nan=False) + "\n").encode()


def smoke_test(
    adapter: Path,
    solver: Input,
    workspace: Path,
    *,
    seconds: float = SMOKE_SECONDS,
    prefix: Sequence[str] = (),
    cancelled: Callable[[], bool] = lambda: False,
) -> Validation:
    """Call adapter and solver briefly, as the contract documents it, and record what came.

    The adapter is asked for ``--help`` and has to know the four options. The
    solver's program is run with ``smoke.args`` in a private copy of its folder,
    where it alone may be executed. ``prefix`` goes in front of both commands, as
    an executor wants it.

    Raises:
        DataError: the contract documents no call, or the program is not there.
    """
    said = solver.meta.get("solver") or {}
    smoke = said.get("smoke")
    if not smoke:
        raise DataError(
            "documents no short call",
            where="solver.smoke",
            hint="Give its help or version, such as smoke: {args: ['--version']}.",
        )
    workspace.mkdir(parents=True, exist_ok=True)
    source = adapter.read_bytes()
    limits = Limits(wall_seconds=seconds, output_bytes=SMOKE_BYTES)
    run = _Runner(limits, tuple(prefix), cancelled)
    checks = [_options_check(source)]
    if checks[0]["passed"]:  # what is no adapter is not run
        checks.append(_help_check(source, workspace / "adapter", run))
        checks.append(_solver_check(said, solver.path, workspace / "solver", run))
    record: Json = {
        "schema": SCHEMA,
        "interface": INTERFACE,
        "status": "passed" if all(one["passed"] for one in checks) else "failed",
        "adapter_source_sha256": hashlib.sha256(source).hexdigest(),
        "solver_bundle_sha256": bundle_sha256(solver.path),
        "solver_executable": str(said["executable"]),
        "table": said.get("table"),
        "checks": checks,
        "statements": list(STATEMENTS),
    }
    return Validation(record)


def read_validation(
    content: bytes, where: str, unpassed: type[HarnessError] = IntegrityError
) -> Json:
    """Return the record of a passed smoke test.

    Raises:
        IntegrityError: it is no such record.
        HarnessError: of the class ``unpassed``, the test did not pass.
    """
    try:
        record = json.loads(content)
        digests = [record["adapter_source_sha256"], record["solver_bundle_sha256"]]
        sound = (
            record["schema"] == SCHEMA
            and record["interface"] == INTERFACE
            and isinstance(record["solver_executable"], str)
            and all(isinstance(one, str) and len(one) == 64 for one in digests)
        )
    except (ValueError, KeyError, TypeError):
        sound = False
    if not sound:
        raise IntegrityError(f"is no record of schema {SCHEMA}", where=where)
    if record["status"] != "passed":
        failed = [str(one.get("check")) for one in record.get("checks", []) if not one["passed"]]
        raise unpassed(
            f"the smoke test did not pass: {', '.join(failed) or record['status']}", where=where
        )
    return dict(record)


def check_interface(source: bytes, where: str) -> None:
    """Confirm that an adapter's source parses and names the four options.

    Raises:
        IntegrityError: it does not.
    """
    found = _options_check(source)
    if not found["passed"]:
        raise IntegrityError(f"is no adapter of {INTERFACE}: {found['found']}", where=where)


def bundle_sha256(folder: Path) -> str:
    """Return the SHA-256 of the archive that stands for a folder."""
    sink = _Digest()
    pack_folder(folder, cast(BinaryIO, sink))
    return sink.sha256.hexdigest()


@frozen
class _Runner:
    """Runs a program of the test, confined to the test's own folder."""

    limits: Limits
    prefix: tuple[str, ...]
    cancelled: Callable[[], bool]

    def __call__(self, words: Sequence[str], folder: Path) -> ChildResult:
        return run_child(
            [*self.prefix, *words],
            cwd=folder,
            env=child_environment(folder.parent, 1),
            limits=self.limits,
            grants=Grants(write=(folder.parent,), execute=(folder.parent,)),
            cancelled=self.cancelled,
        )


class _Digest:
    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        return len(data)


def _options_check(source: bytes) -> Json:
    """Read the adapter's syntax tree alone; nothing of it is run."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _check("source", [], f"no Python: {error}", passed=False)
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    missing = [option for option in OPTIONS if option not in words]
    found = f"no option {', '.join(missing)}" if missing else "the four options"
    return _check("source", [], found, passed=not missing)


def _help_check(source: bytes, folder: Path, run: _Runner) -> Json:
    folder.mkdir(parents=True)
    program = folder / "adapter.py"
    program.write_bytes(source)
    words = [sys.executable, "-I", "-B", str(program), "--help"]
    done = run(words, folder)
    said = done.stdout.decode("utf-8", "replace")
    missing = [option for option in OPTIONS if option not in said]
    good = done.failure is None and done.returncode == 0 and not missing
    found = _ended(done) if done.returncode != 0 else f"no word of {', '.join(missing)}"
    shown = ["python", "adapter.py", "--help"]
    return _check("adapter", shown, "the four options" if good else found, passed=good)


def _solver_check(
    said: Mapping[str, Any],
    root: Path,
    folder: Path,
    run: _Runner,
) -> Json:
    smoke, executable = said["smoke"], str(said["executable"])
    program = private_copy(root, executable, folder)
    arguments = [str(word) for word in smoke.get("args") or ()]
    expected = int(smoke.get("expect_exit") or 0)
    shown = [executable, *arguments]
    bare = program.suffix == ".py" and not program.read_bytes().startswith(b"#!")
    words = [sys.executable, str(program)] if bare else [str(program)]
    try:
        done = run([*words, *arguments], folder)
    except OSError as error:
        return _check("solver", shown, f"cannot be started: {error}", passed=False)
    good = done.failure is None and done.returncode == expected
    return _check("solver", shown, _ended(done), passed=good)


def private_copy(root: Path, executable: str, folder: Path) -> Path:
    """Copy a solver's regular files to the new folder ``folder``; return its program there.

    Only the program may be executed.

    Raises:
        DataError: it is not among them, or something is a link or special.
    """
    parts = Path(executable).parts
    if os.path.isabs(executable) or ".." in parts or not (root / executable).is_file():
        raise DataError(f"there is no {executable!r}", where="solver.executable")
    for above, folders, files in os.walk(root):
        place = folder / Path(above).relative_to(root)
        place.mkdir(parents=True, exist_ok=True)
        for name in (*folders, *files):
            mode = Path(above, name).lstat().st_mode
            if stat.S_ISREG(mode):
                shutil.copyfile(Path(above, name), place / name)
                os.chmod(place / name, 0o444)
            elif not stat.S_ISDIR(mode):
                raise DataError(f"{name} is a link or no regular file", where="solver")
    os.chmod(folder / executable, 0o555)
    return folder / executable


def _ended(done: ChildResult) -> str:
    return done.failure or f"exit code {done.returncode}"


def _check(check: str, command: Sequence[str], found: str, *, passed: bool) -> Json:
    return {"check": check, "command": list(command), "found": found, "passed": passed}
