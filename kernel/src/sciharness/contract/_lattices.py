"""Lattice texts: a run that would need one converted says so before it exists."""

from __future__ import annotations

from collections.abc import Iterable

from sciharness.contract.findings import Findings
from sciharness.contract.records import Contract

LATTICE = "lattice"

# Endings of the texts of accelerator codes; no such text is executed or guessed at.
_FORMATS = {
    "madx": ("MAD-X text", (".madx", ".seq", ".mad", ".mad8", ".str")),
    "elegant": ("Elegant text", (".lte", ".ele")),
    "tfs": ("TFS table", (".tfs",)),
    "bmad": ("BMAD text", (".bmad",)),
}


def check_lattices(contract: Contract, capabilities: Iterable[str], findings: Findings) -> None:
    """Note each lattice text that no leased capability turns into Xsuite JSON."""
    operations = {name.rpartition(".")[2] for name in capabilities}
    for index, item in enumerate(contract.inputs):
        if item.role != LATTICE:
            continue
        for name, (kind, endings) in _FORMATS.items():
            wanted = f"{name}_to_xsuite_json"
            if item.path.lower().endswith(endings) and wanted not in operations:
                findings.problem(
                    (*findings.spot("inputs", index, item.name, "name"), "path"),
                    found=f"{item.path}, a {kind}",
                    expected=f"Xsuite JSON, or a leased capability {wanted} that makes it",
                    hint="beam.xsuite has madx_to_xsuite_json; other rings are written by xtrack: "
                    "line.to_json('ring.json').",
                )
