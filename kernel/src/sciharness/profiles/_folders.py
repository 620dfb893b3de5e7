"""Folders and ZIP archives: members, the roles they allow, and what a candidate solver says."""

from __future__ import annotations

import os
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from sciharness.bundles import FolderLimits, RuleError, Survey, pack_folder
from sciharness.bundles.manifests import MANIFEST_BYTES, manifest_in
from sciharness.bundles.survey import Member, survey_opened
from sciharness.bundles.tree import opened_file, opened_folder
from sciharness.bundles.zip_scan import ZipScan, scan_zip
from sciharness.contract.artifact_types import PREDICTOR_FILES
from sciharness.profiles._text import shown
from sciharness.profiles.programs import Candidate, candidates
from sciharness.profiles.records import README_BYTES, Profile

Json = dict[str, Any]  # Any: JSON values

_DOCUMENTS = ("readme", "usage", "install", "manual", "help")
_DOCUMENT_SUFFIXES = ("", ".md", ".txt", ".rst", ".adoc", ".org")
_LANGUAGES = {
    ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hpp": "C++",
    ".f": "Fortran", ".for": "Fortran", ".f90": "Fortran", ".f95": "Fortran", ".f03": "Fortran",
    ".py": "Python", ".jl": "Julia", ".m": "MATLAB or Octave", ".r": "R", ".rs": "Rust",
    ".go": "Go", ".java": "Java", ".js": "JavaScript", ".sh": "shell", ".cu": "CUDA",
}  # fmt: skip


def profile_folder(folder: Path) -> Profile:
    """Return the profile of a chosen folder.

    Raises:
        RuleError: it breaks a rule for chosen folders, or changed while it was read.
    """
    limits = FolderLimits()
    counting = _Deflated(limits.encoded_bytes)
    packed = pack_folder(folder, counting, limits)  # type: ignore[arg-type]  # it only writes
    with opened_folder(folder) as root:
        found = survey_opened(root, limits)
        return _profile(root, folder, found, packed.sha256)


def profile_zip(file: int) -> Profile:
    """Return the profile of a ZIP archive: its directory, no member's content."""
    found = scan_zip(file)
    facts: Json = {
        "files": len(found.members),
        "unpacked_bytes": found.size,
        "members": [_zip_member(one) for one in found.members[:512]],
        "solver_bundle": {
            "possible": not found.flaws and bool(found.members),
            "blocked_by": [{"rule": one.rule, "message": one.message} for one in found.flaws],
        },
    }
    roles = ("other",) if found.flaws or not found.members else ("reference_solver", "other")
    warnings = tuple(f"cannot become a solver's folder: {flaw}" for flaw in found.flaws)
    return Profile("zip_archive", roles=roles, facts=facts, warnings=warnings)


def _profile(root: int, folder: Path, found: Survey, sha256: str) -> Profile:
    paths = [one.path for one in found.members]
    programs = list(candidates(root, paths))
    manifest = manifest_in(paths, lambda path: _start_of(root, path, MANIFEST_BYTES))
    facts: Json = {
        "files": len(paths),
        "depth": max((path.count("/") + 1 for path in paths), default=0),
        "languages": dict(_languages(paths).most_common()),
        "members": [_member(one) for one in found.members],
    }
    described = _context_data(folder, paths)
    if described is not None:
        return _with(described, found, sha256)
    warnings: list[str] = []
    solver = not manifest and any(_is_solver(one) for one in programs)
    if manifest:
        warnings.append(f"no solver: {shown(manifest)} belongs to a package of this system")
    if programs:
        facts["programs"] = [one.to_dict() for one in programs[:100]]
    warnings += [_refusal(one) for one in programs if one.header and one.header.refused]
    if solver:
        documents = _documents(root, found.members)
        facts["untrusted"] = {"documents": documents}
        if documents:
            warnings.append("its documents are untrusted texts: no instruction, no authorisation")
    roles = ["reference_solver"] * (solver or bool(programs and not manifest)) + ["other"]
    if set(paths) >= PREDICTOR_FILES.keys():
        roles.insert(0, "predictor")
    kind = "solver_bundle" if solver else "directory_bundle"
    return Profile(kind, found.size, sha256, tuple(roles), facts, tuple(warnings[:50]))


def _is_solver(one: Candidate) -> bool:
    """Whether a file alone makes its folder a candidate: a native program, a marked script."""
    if one.header is not None:
        return not one.header.refused and one.header.kind == "executable"
    return one.executable


def _refusal(one: Candidate) -> str:
    assert one.header is not None
    return f"{shown(one.path)} is no program: {one.header.refused}"


def _context_data(folder: Path, paths: Sequence[str]) -> Profile | None:
    if "manifest.json" not in paths:
        return None
    from sciharness.contextdata import inspect_context_data

    report = inspect_context_data(folder)
    if not report["valid"] and not report["variables"]:
        return None
    variables = {
        shown(name): {
            "dtype": shown(str(one["dtype"])),
            "shape": list(one["shape"]),
            "axes": [shown(axis) for axis in one["axes"]],
            "kind": shown(str(one.get("kind") or "variable")),
            "description": shown(str(one.get("description") or "")),
        }
        for name, one in report["variables"].items()
    }
    axes = {
        shown(name): {"size": one["size"], "dtype": shown(str(one["dtype"]))}
        for name, one in report["axes"].items()
    }
    facts = {"variables": variables, "axes": axes, "num_nodes": report["num_nodes"]}
    warnings = [shown(text) for text in (*report["errors"], *report["warnings"])]
    roles = ("context_data", "labelled_table", "other") if report["valid"] else ("other",)
    return Profile("context_data", roles=roles, facts=facts, warnings=tuple(warnings[:50]))


def _with(profile: Profile, found: Survey, sha256: str) -> Profile:
    return Profile(profile.kind, found.size, sha256, profile.roles, profile.facts, profile.warnings)


def _languages(paths: Sequence[str]) -> Counter[str]:
    suffixes = (PurePosixPath(path).suffix for path in paths)
    known = (_LANGUAGES.get(one.lower()) or ("C++" if one == ".C" else None) for one in suffixes)
    return Counter(one for one in known if one)


def _member(one: Member) -> Json:
    return {"path": shown(one.path), "bytes": one.size, "executable_bit": one.executable}


def _zip_member(one: Any) -> Json:  # Any: a ZipMember
    return {"path": shown(one.path), "bytes": one.entry.size, "packed_bytes": one.entry.packed}


def _documents(root: int, members: Sequence[Member]) -> list[Json]:
    """Return the texts of README and usage files, 64 KiB in all, those nearest to the top first."""
    left = README_BYTES
    found = []
    for one in sorted(members, key=lambda one: (one.path.count("/"), one.path)):
        path = PurePosixPath(one.path)
        known = path.stem.lower().startswith(_DOCUMENTS) or path.name.lower().startswith("readme")
        if not known or path.suffix.lower() not in _DOCUMENT_SUFFIXES or left <= 0:
            continue
        raw = _start_of(root, one.path, left)
        left -= len(raw)
        text = "\n".join(shown(line, 2000) for line in raw.decode("utf-8", "replace").splitlines())
        cut = one.size > len(raw)
        found.append({"path": shown(one.path), "untrusted": True, "cut": cut, "text": text})
    return found


def _start_of(root: int, path: str, count: int) -> bytes:
    with opened_file(root, path) as file:
        return os.pread(file, count, 0)


class _Deflated:
    """Takes an archive and refuses it when it is too large even when encoded."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.plain = 0
        self.encoded = 0
        self._early: list[bytes] = []
        self._packer: Any = None  # Any: zlib names no type

    def write(self, data: bytes) -> int:
        """Take some bytes; they are deflated only once there are more than may be encoded."""
        self.plain += len(data)
        if self.plain <= self.most:
            self._early.append(bytes(data))
            return len(data)
        if self._packer is None:
            self._packer = zlib.compressobj(1)
            for early in self._early:
                self.encoded += len(self._packer.compress(early))
            self._early.clear()
        self.encoded += len(self._packer.compress(data))
        if self.encoded > self.most:
            raise RuleError(
                "encoded bytes",
                f"it is larger than {self.most} bytes when encoded",
                "A contract takes larger folders; leave out what is not needed.",
            )
        return len(data)


__all__ = ["ZipScan", "profile_folder", "profile_zip"]
