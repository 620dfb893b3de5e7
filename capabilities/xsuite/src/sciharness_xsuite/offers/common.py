"""What the operations on rings share: their domain, the lattice, pictures for the report."""

from __future__ import annotations

from sciharness import InputSpec, OutputSpec

DOMAIN = "accelerator physics"
LATTICE = InputSpec("lattice", ("lattice",), summary="Line.to_dict JSON, also packed with gzip")
PART = (OutputSpec("report_part.json", "report_part", optional=True),)


def pictures(*names: str) -> tuple[OutputSpec, ...]:
    """Return pictures of these names, each written only if there is something to show."""
    return tuple(OutputSpec(name, "OTHER", optional=True) for name in names)
