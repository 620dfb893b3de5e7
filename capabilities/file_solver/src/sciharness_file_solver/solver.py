"""The solver of an action: its folder, its digest and how it is called."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from sciharness.adapters import check_interface
from sciharness.bundles import pack_folder
from sciharness.errors import DataError
from sciharness.plugin import Context

DEFAULT_COMMAND = ("{executable}", "{input}", "{output}")
BUNDLE = "solver.tar"
CASE_SECONDS = 60.0

Json = Mapping[str, Any]  # Any: JSON values


@frozen
class SolverInput:
    """A solver's folder and what the contract says about it.

    ``setting`` is what the shipped calling code reads: executable, command,
    inputs, outputs, case_seconds, perhaps the text of an adapter. ``smoke`` is
    the documented trial call.
    """

    root: Path
    setting: Json
    smoke: Json | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Columns of the solver's input table."""
        return tuple(self.setting["inputs"])

    @property
    def outputs(self) -> tuple[str, ...]:
        """Columns of the solver's output table."""
        return tuple(self.setting["outputs"])

    @property
    def files(self) -> dict[str, str]:
        """SHA-256 of every file by its path in the folder."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            if path.is_file():
                with path.open("rb") as stream:
                    digest = hashlib.file_digest(stream, "sha256").hexdigest()
                found[path.relative_to(self.root).as_posix()] = digest
        return found

    def bundle_sha256(self) -> str:
        """Return the SHA-256 of the archive that stands for the folder."""
        sink = _Hashing()
        pack_folder(self.root, sink)  # type: ignore[arg-type]  # it only writes
        return sink.digest.hexdigest()

    def write_bundle(self, context: Context) -> str:
        """Write the archive as the artifact ``solver.tar`` and return its SHA-256."""
        path = context.output(BUNDLE, "solver_bundle")
        with path.open("wb") as sink:
            pack_folder(self.root, sink)
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()


def _adapter(source: bytes) -> str:
    """Return the text of an adapter that the user brought.

    Raises:
        IntegrityError: it is none.
    """
    check_interface(source, "adapter")
    return source.decode("utf-8")


class _Hashing:
    """A file that keeps only the digest of what is written."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Take some bytes."""
        self.digest.update(data)
        return len(data)


def read_solver(
    context: Context, *, table: bool = True, case_seconds: float = CASE_SECONDS
) -> SolverInput:
    """Return the solver that the action was given.

    Raises:
        DataError: the contract does not say how it is called, or its program is
            not in the folder; with ``table`` also if its input and output are
            not said to be tables.
    """
    given = context.inputs["solver"]
    said = given.meta.get("solver")
    if not said:
        raise DataError(
            "nothing says how the solver is called",
            where="solver",
            hint="Give its input a `solver:` block with executable, command and table.",
        )
    columns = said.get("table") or {}
    if table and not columns:
        raise DataError(
            "solver.table is missing",
            where="solver",
            hint="Name the columns: table: {inputs: [...], outputs: [...]}.",
        )
    executable = str(said["executable"])
    root = given.path
    if not (root / executable).is_file():
        raise DataError(
            f"there is no {executable} in the folder",
            where="solver.executable",
            hint="Give its path inside the folder.",
        )
    setting = {
        "executable": executable,
        "command": list(said.get("command") or DEFAULT_COMMAND),
        "inputs": list(columns.get("inputs", ())),
        "outputs": list(columns.get("outputs", ())),
        "case_seconds": case_seconds,
    }
    if "adapter" in context.inputs:
        setting["adapter"] = _adapter(context.inputs["adapter"].path.read_bytes())
    return SolverInput(root, setting, said.get("smoke"))
