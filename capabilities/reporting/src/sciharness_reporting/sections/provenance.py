"""Provenance: which bytes, which code, which seeds, which versions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from sciharness_reporting.document import (
    Block,
    Code,
    Facts,
    Line,
    Listing,
    Section,
    section,
    table,
)
from sciharness_reporting.record import Run, mapping, objects
from sciharness_reporting.story import Story
from sciharness_reporting.text import clean, label, number, short

_ISOLATION = {
    "landlock+seccomp": "enforced by the operating system (Landlock and seccomp)",
    "landlock": "files enforced by the operating system (Landlock); sockets were open",
    "none": "not enforced by the operating system on this machine",
}


def provenance(story: Story) -> Section | None:
    """Return everything needed to tell exactly what ran."""
    run = story.run
    return section(
        "provenance",
        "Provenance",
        _identity(run),
        table(
            "Inputs",
            ("Name", "Role", "Bytes", "SHA-256"),
            list(_inputs(run)),
            numeric=("Bytes",),
        ),
        table(
            "Pinned capabilities",
            ("Capability", "Plugin", "Version", "Implementation digest"),
            list(_pins(run)),
        ),
        table("Artifacts", ("Name", "Step", "Type", "SHA-256"), list(_artifacts(run))),
        table("Versions", ("Distribution", "Version"), list(_versions(run))),
        _contract(run),
    )


def _identity(run: Run) -> Block | None:
    digest = label(run.value("contract_digest"), 80)
    known: list[tuple[str, Line]] = [
        ("Run", Code(run.run_id) if run.run_id else ""),
        ("Started", _moment(label(run.value("created")))),
        ("Seed", str(run.seed) if run.seed is not None else ""),
        ("Contract digest", Code(digest) if digest else ""),
        ("Label isolation", _ISOLATION.get(run.isolation, run.isolation)),
    ]
    pairs = tuple((name, line) for name, line in known if line)
    return Facts(pairs) if pairs else None


def _moment(text: str) -> str:
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z", text)
    return f"{found[1]} {found[2]} UTC" if found else text


def _inputs(run: Run) -> Iterator[tuple[Line, ...]]:
    for one in objects(run.value("inputs")):
        size = number(one.get("bytes"))
        kind = label(one.get("role") or one.get("type"))
        yield Code(label(one.get("name"))), kind, size, Code(label(one.get("sha256"), 64))


def _pins(run: Run) -> Iterator[tuple[Line, ...]]:
    for name, pin in mapping(run.value("pins")).items():
        parts = label(pin, 300).split(" ")
        plugin, version = (parts[0], parts[1]) if len(parts) == 4 else (label(pin, 300), "")
        digest = parts[3] if len(parts) == 4 else ""
        yield Code(label(name)), Code(plugin), version, Code(digest) if digest else ""


def _artifacts(run: Run) -> Iterator[tuple[Line, ...]]:
    for one in objects(run.value("artifacts")):
        name, step = Code(label(one.get("name"))), Code(label(one.get("step")))
        yield name, step, label(one.get("type")), Code(short(one.get("sha256")))


def _versions(run: Run) -> Iterator[tuple[Line, ...]]:
    known = {**mapping(run.value("versions")), **mapping(run.value("environment"))}
    for name, version in sorted((label(key), label(value, 120)) for key, value in known.items()):
        if version:
            yield name, version


def _contract(run: Run) -> Block | None:
    contract = run.value("contract")
    if mapping(contract):
        contract = json.dumps(contract, indent=2, ensure_ascii=False)
    text = clean(contract, 100_000).strip()
    return Listing("The contract", text) if text else None
