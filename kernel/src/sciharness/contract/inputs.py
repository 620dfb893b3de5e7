"""Facts about contract inputs: what is there, of which type, how large, with which digest."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import frozen

from sciharness.contract.artifact_types import DIRECTORY_BUNDLE, type_of_file
from sciharness.contract.findings import Findings, describe, nearest
from sciharness.contract.paths import DocumentPath
from sciharness.contract.records import ContractInput
from sciharness.errors import DataError

MAX_DEPTH = 32
MAX_PATH_BYTES = 1024
MANIFEST = "manifest.json"

_ABSENT = "no such file or folder"
REFERENCE_SOLVER = "reference_solver"
_FOLDER_ROLES = ("context_data", REFERENCE_SOLVER, "predictor", "other", "lattice")


@frozen
class InputFacts:
    """One input as it is on disk.

    ``files`` holds the digests of the single files of a folder by their
    relative path; the digest of a folder covers paths, sizes and contents.
    """

    name: str
    type: str
    bytes: int
    sha256: str
    files: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the facts as they stand in ``check --json`` output."""
        return {"name": self.name, "type": self.type, "bytes": self.bytes, "sha256": self.sha256}


def input_facts(name: str, path: Path) -> InputFacts:
    """Return the facts of a file or folder.

    A file may be reached through a link. Folders hold regular files only.

    Raises:
        DataError: it is not there, not readable, empty, or no plain file or folder.
    """
    try:
        kind = path.stat().st_mode
        if stat.S_ISREG(kind):
            size, digest = _digest(path)
            facts = InputFacts(name, type_of_file(path.name), size, digest)
        elif stat.S_ISDIR(kind):
            facts = _folder_facts(name, path)
        else:
            raise DataError("neither a regular file nor a folder", where=path.name)
    except FileNotFoundError:
        raise DataError(_ABSENT, where=path.name) from None
    except (OSError, ValueError) as fault:
        said = getattr(fault, "strerror", None) or str(fault)
        raise DataError(f"cannot be read: {said}", where=path.name) from fault
    if facts.bytes == 0:
        raise DataError("nothing in it (0 bytes)", where=path.name)
    return facts


def check_file(
    item: ContractInput, folder: Path, path: DocumentPath, findings: Findings
) -> InputFacts | None:
    """Return the facts of a contract input beside the contract, ``None`` after a problem."""
    source = folder / item.path
    try:
        if Path(item.path).is_absolute():
            raise DataError("an absolute path", where=source.name)
        facts = input_facts(item.name, source)
    except DataError as fault:
        hint = _nearest_file(source) if fault.message == _ABSENT else ""
        found = f"{describe(item.path).removeprefix('the text ')}: {fault.message}"
        findings.problem(
            (*path, "path"), kind="data", found=found, expected="a file or folder", hint=hint
        )
        return None
    expected = _misplaced(item, facts)
    if expected:
        found = "a folder" if facts.type == DIRECTORY_BUNDLE else "a file"
        findings.problem((*path, "path"), kind="data", found=found, expected=expected)
        return None
    if item.role == REFERENCE_SOLVER:
        from sciharness.contract._solver import check_solver  # it reads this module's bounds

        return check_solver(item, source, path, findings)
    return facts


def _misplaced(item: ContractInput, facts: InputFacts) -> str:
    """Return what the role of an input asks for if that is not what is there."""
    if facts.type != DIRECTORY_BUNDLE:
        if item.role == REFERENCE_SOLVER and not is_archive(item):
            return "a folder for role reference_solver, or a ZIP of one"
        return "a folder for role context_data" if item.directory else ""
    if item.role in _FOLDER_ROLES or item.directory:
        return ""
    if item.role != "labelled_table":
        return f"a file for role {item.role}"
    if any(name == MANIFEST for name, _ in facts.files):
        return ""
    return f"a file for role labelled_table, or a context.data directory (with a {MANIFEST})"


def is_archive(item: ContractInput) -> bool:
    """Return whether an input is an archive by its name; what is in it is looked at later."""
    return item.path.lower().endswith(".zip")


def _folder_facts(name: str, path: Path) -> InputFacts:
    found = []
    for relative in sorted(_walk(path), key=lambda text: text.encode("utf-8")):
        size, content = _digest(path / relative)
        found.append((relative, content, size))
    files = tuple((relative, content) for relative, content, _ in found)
    total = sum(size for _, _, size in found)
    return InputFacts(name, DIRECTORY_BUNDLE, total, folder_digest(found), files)


def folder_digest(files: Iterable[tuple[str, str, int]]) -> str:
    """Return the digest of a folder from path, SHA-256 and size of each file in order."""
    digest = hashlib.sha256(b"harness-folder-v1\n")
    for relative, content, size in files:
        line = f"{content} {size} {json.dumps(relative, ensure_ascii=False)}\n"
        digest.update(line.encode("utf-8"))
    return digest.hexdigest()


def _walk(root: Path, prefix: str = "") -> Iterator[str]:
    with os.scandir(root / prefix) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        relative = f"{prefix}{entry.name}"
        if relative.count("/") >= MAX_DEPTH or len(os.fsencode(relative)) > MAX_PATH_BYTES:
            raise DataError(f"{relative[:80]} lies deeper than {MAX_DEPTH} or is too long")
        if entry.is_symlink():
            raise DataError(f"{relative} is a link; folders hold regular files only")
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(root, f"{relative}/")
        elif entry.is_file(follow_symlinks=False):
            yield relative
        else:
            raise DataError(f"{relative} is no regular file")


def _digest(path: Path) -> tuple[int, str]:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return stream.tell(), digest


def _nearest_file(source: Path) -> str:
    try:
        names = [entry.name for entry in source.parent.iterdir()][:1000]
    except OSError:
        return f"There is no folder {source.parent.name}." if source.parent.name else ""
    best = nearest(source.name, names)
    return f"Did you mean `{best}`?" if best else "Paths are relative to the contract."
