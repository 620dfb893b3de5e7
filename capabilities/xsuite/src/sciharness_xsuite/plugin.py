"""The plugin ``beam.xsuite``: what this distribution registers."""

from __future__ import annotations

from collections.abc import Sequence

from sciharness import Capability, hookimpl
from sciharness_xsuite.offers import core_capabilities
from sciharness_xsuite.science import science_capabilities

HOOK_API = 1


@hookimpl
def harness_capabilities() -> Sequence[Capability]:
    """Return the operations on lattices, tracks, survival and apertures."""
    return (*core_capabilities(), *science_capabilities())
