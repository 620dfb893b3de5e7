"""Reference solvers of a contract: the folder, and whether it can be called as described."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from sciharness.contract.artifact_types import SOLVER_BUNDLE
from sciharness.contract.findings import Findings, describe, suggest
from sciharness.contract.inputs import InputFacts, input_facts
from sciharness.contract.paths import DocumentPath
from sciharness.contract.records import ContractInput
from sciharness.errors import DataError

if TYPE_CHECKING:
    from sciharness.profiles.programs import Candidate

_FIELDS = ("executable", "input", "output", "python")
_FIELD = re.compile(r"\{([^{}]*)\}")
_WHOLE = "{executable}"


def check_solver(
    item: ContractInput, source: Path, path: DocumentPath, findings: Findings
) -> InputFacts | None:
    """Return the facts of a reference solver, a folder or a ZIP of one; ``None`` after a problem.

    It keeps the rules of chosen folders, carries no package of this system, and
    the program that the contract names can be started here. The facts of a ZIP
    are those of the folder in it.
    """
    before = len(findings.problems)
    facts = None
    try:
        if source.is_dir():
            facts = _check_folder(item, source, path, findings)
        else:
            facts = _check_archive(item, source, path, findings)
    except DataError as fault:
        expected = "a folder, or a ZIP of one, within the rules"
        _data(findings, (*path, "path"), fault.message, expected, fault.hint)
    check_call(item.solver or {}, (*path, "solver"), findings)
    if facts is None or len(findings.problems) > before:
        return None
    return evolve(facts, type=SOLVER_BUNDLE)


def _check_folder(
    item: ContractInput, folder: Path, path: DocumentPath, findings: Findings
) -> InputFacts:
    # Loaded for the few contracts that have a solver.
    from sciharness.bundles.limits import FolderLimits
    from sciharness.bundles.manifests import manifest_in
    from sciharness.bundles.survey import survey_opened
    from sciharness.bundles.tree import opened_folder

    with opened_folder(folder) as root:
        paths = [one.path for one in survey_opened(root, FolderLimits()).members]
        manifest = manifest_in(paths, lambda name: _start_of(root, name))
        if manifest:
            found = f"{manifest}, which belongs to a package of this system"
            _data(findings, (*path, "path"), found, "a solver, no plugin")
        if item.solver:
            _check_executable(root, paths, str(item.solver["executable"]), path, findings)
    return input_facts(item.name, folder)


def _check_archive(
    item: ContractInput, archive: Path, path: DocumentPath, findings: Findings
) -> InputFacts | None:
    """Check an archive; each flaw that keeps it from being a solver is a problem of its own."""
    import tempfile

    from sciharness.bundles.zip_scan import scan_zip, unpack_zip

    with archive.open("rb") as stream:
        found = scan_zip(stream.fileno())
    for flaw in found.flaws:
        _data(findings, (*path, "path"), str(flaw), "a ZIP without this flaw")
    if found.flaws:
        return None
    with tempfile.TemporaryDirectory(prefix="solver-") as scratch:
        unpack_zip(archive, Path(scratch, "folder"))
        return _check_folder(item, Path(scratch, "folder"), path, findings)


def check_call(
    solver: Mapping[str, Any],  # Any: JSON values
    path: DocumentPath,
    findings: Findings,
) -> None:
    """Note what is wrong with the way a solver is called, whatever is in its folder."""
    command = solver.get("command")
    if command is not None:
        _check_command(command, (*path, "command"), findings)
    table = solver.get("table") or {}
    both = [name for name in table.get("outputs", ()) if name in table.get("inputs", ())]
    if both:
        found = f"{describe(both[0])} as input and output"
        findings.problem((*path, "table", "outputs"), found=found, expected="other names")


def _check_command(command: list[str], path: DocumentPath, findings: Findings) -> None:
    for index, word in enumerate(command):
        for name in _FIELD.findall(word):
            if name not in _FIELDS:
                known = ", ".join(f"{{{one}}}" for one in _FIELDS)
                findings.problem(
                    (*path, index), found=describe(word), expected=f"only {known} in braces"
                )
    count = sum(word == _WHOLE for word in command)
    if count != 1 or sum(word.count(_WHOLE) for word in command) != 1:
        hint = 'For example: ["{executable}", "-i", "{input}", "-o", "{output}"].'
        expected = "the word {executable} once"
        findings.problem(path, found=describe(command), expected=expected, hint=hint)


def _check_executable(
    root: int, paths: list[str], wanted: str, path: DocumentPath, findings: Findings
) -> None:
    from sciharness.profiles.programs import candidate

    spot = (*path, "solver", "executable")
    if wanted not in paths:
        hint = suggest(wanted, paths, "It holds")
        _data(findings, spot, describe(wanted), "the path of a file in the folder", hint)
        return
    found = candidate(root, wanted)
    if found is None or not found.starts:
        said, hint = _unfit(found)
        _data(findings, spot, f"{wanted}: {said}", "a program that this machine can start", hint)


def _unfit(found: Candidate | None) -> tuple[str, str]:
    """Return what a file is instead of a program that starts here, and what to do."""
    if found is None or found.header is None:
        hint = "A script starts with #!, or ends in .py; source has to be built first."
        return "neither a native program nor a script", hint
    header = found.header
    if header.refused:
        return f"a broken {header.format} program: {header.refused}", "Build it anew."
    kind = f"{header.format} {header.kind} for {header.machine or 'several machines'}"
    return f"an {kind}" if kind[0] in "aeio" else f"a {kind}", "Build it for this machine."


def _start_of(root: int, path: str) -> bytes:
    from sciharness.bundles.manifests import MANIFEST_BYTES
    from sciharness.bundles.tree import opened_file

    with opened_file(root, path) as file:
        return os.pread(file, MANIFEST_BYTES, 0)


def _data(
    findings: Findings, path: DocumentPath, found: str, expected: str, hint: str = ""
) -> None:
    findings.problem(path, kind="data", found=found, expected=expected, hint=hint)
