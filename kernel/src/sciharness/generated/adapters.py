"""Solver adapters as generated plugins: their files, the checks of them, and solving with them."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sciharness.adapters import INTERFACE, OPTIONS, STATEMENTS, check_interface, read_validation
from sciharness.bundles import unpack
from sciharness.errors import DataError, IntegrityError, UsageError
from sciharness.generated.installed import load
from sciharness.generated.packages import GeneratedPackage, read_generated
from sciharness.generated.predicting import Prediction, check_out, deliver, scratch
from sciharness.programs import ChildResult, Grants, Limits, child_environment, run_child
from sciharness.store.home import Home
from sciharness.workers.failures import ActionFailed

FILES = ("solver.tar", "adapter.py", "adapter_validation.json")
CARD = "plugin.json"
OPERATION = "solve"
OUTPUT = "solved.csv"
_SOURCE = "adapter_source_sha256"
SOLVE_SECONDS = 7200.0

Json = dict[str, Any]  # Any: JSON values


def is_adapter(files: Mapping[str, bytes], package: str) -> bool:
    """Return whether an import package holds a solver adapter."""
    return f"{package}/{FILES[2]}" in files


def adapter_files(files: Mapping[str, bytes], package: str) -> dict[str, bytes]:
    """Return an adapter's files by name after all that they say of each other was compared.

    Raises:
        IntegrityError: one is missing, or status, interface or a digest differs.
    """
    found = {}
    for name in (*FILES, CARD):
        data = files.get(f"{package}/{name}")
        if data is None:
            raise IntegrityError(f"{package}/{name} is missing", where=package)
        found[name] = data
    record = read_validation(found["adapter_validation.json"], package)
    check_interface(found["adapter.py"], package)
    for name, key in (("solver.tar", "solver_bundle_sha256"), ("adapter.py", _SOURCE)):
        if hashlib.sha256(found[name]).hexdigest() != record[key]:
            raise IntegrityError(
                f"{name} is not what the record of the smoke test names", where=package
            )
    card = card_of_adapter(found)
    if (card.get("protocol"), card.get("executable")) != (INTERFACE, record["solver_executable"]):
        raise IntegrityError(f"{CARD} and the record of the smoke test differ", where=package)
    return found


def card_of_adapter(files: Mapping[str, bytes]) -> Json:
    """Return what plugin.json says: protocol, executable and table of the solver."""
    try:
        return dict(json.loads(files[CARD]))
    except (ValueError, TypeError) as fault:
        raise IntegrityError("is no JSON object", where=CARD) from fault


def check_package(home: Home, found: GeneratedPackage) -> None:
    """Check an adapter's package before it is installed, ending with one call of its help.

    Raises:
        IntegrityError: the three sources are not what the attestation binds.
        ActionFailed: the adapter does not answer.
    """
    files = adapter_files(found.wheel.files, found.package)
    names = {source.name for source in found.statement.sources}
    if names != set(FILES) or len(found.statement.sources) != len(FILES):
        raise IntegrityError(
            f"the attestation names {', '.join(sorted(names))}, an adapter has exactly "
            f"{', '.join(sorted(FILES))}",
            where=found.file_name,
        )
    with scratch(home) as folder:
        done = _run(files, folder, ["--help"], Limits(wall_seconds=60.0))
        said = done.stdout.decode("utf-8", "replace")
        if done.failure or done.returncode or any(option not in said for option in OPTIONS):
            raise _failed(done)


def solve(
    home: Home, source: str, given: Path, out: Path, *, threads: int = 1, replace: bool = False
) -> Prediction:
    """Solve one input file by an installed adapter, or a wheel of one, and write ``out``.

    The solver runs in a workspace of its own; only its program may be executed
    there.

    Raises:
        UsageError, DataError, IntegrityError: the source or a file is refused.
        ActionFailed: the adapter ended with an error.
    """
    check_out(out, replace)
    files = _verified(home, source)
    if not given.is_file():
        raise DataError("there is no such file", where=str(given))
    with scratch(home) as folder:
        made, _ = solve_in(files, given.resolve(), folder, threads=threads)
        deliver(made, out, replace)
    return Prediction(source, out, STATEMENTS)


def solve_in(
    files: Mapping[str, bytes],
    given: Path,
    folder: Path,
    *,
    threads: int = 1,
    seconds: float = SOLVE_SECONDS,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[Path, ChildResult]:
    """Solve one input file in the workspace ``folder`` by an adapter's verified files.

    Raises:
        ActionFailed: the adapter ended with an error or wrote nothing.
    """
    root, made = folder / "solver", folder / OUTPUT
    (folder / "solver.tar").write_bytes(files["solver.tar"])
    unpack(folder / "solver.tar", root)
    executable = str(card_of_adapter(files)["executable"])
    words = ["--solver-root", str(root), "--solver-executable", executable]
    words += ["--input", str(given), "--output", str(made)]
    limits = Limits(wall_seconds=seconds)
    done = _run(files, folder, words, limits, read=(given,), threads=threads, cancelled=cancelled)
    if done.failure or done.returncode or not made.is_file() or made.is_symlink():
        raise _failed(done)
    return made, done


def _verified(home: Home, source: str) -> dict[str, bytes]:
    if Path(source).suffix == ".whl":
        found = read_generated(Path(source))
        files, package = dict(found.wheel.files), found.package
    else:
        plugin_id, _, version = source.partition("==")
        installed = load(home, plugin_id, version or None)
        files, package = dict(installed.files), str(installed.entry_point)
    if not is_adapter(files, package):
        raise UsageError(
            "is no solver adapter",
            where=source,
            hint="A predictor is used with `harness predict`.",
        )
    return adapter_files(files, package)


def _run(
    files: Mapping[str, bytes],
    folder: Path,
    words: Sequence[str],
    limits: Limits,
    *,
    read: Sequence[Path] = (),
    threads: int = 1,
    cancelled: Callable[[], bool] = lambda: False,
) -> ChildResult:
    program = folder / "adapter.py"
    program.write_bytes(files["adapter.py"])
    return run_child(
        [sys.executable, "-I", "-B", str(program), *words],
        cwd=folder,
        env=child_environment(folder, threads),
        limits=limits,
        grants=Grants(read=read, write=(folder,), execute=(folder,)),
        cancelled=cancelled,
    )


def _failed(done: ChildResult) -> ActionFailed:
    tail = done.stderr.decode("utf-8", "replace").strip().splitlines()[-5:]
    return ActionFailed(
        f"adapter.py ended with {done.failure or f'exit code {done.returncode}'}: "
        + (tail[-1] if tail else "no message"),
        reason=done.failure or "error",
        detail="\n".join(tail),
        cpu_seconds=done.cpu_seconds,
    )
