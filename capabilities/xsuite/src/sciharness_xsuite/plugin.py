"""The plugin ``beam.xsuite``: what this distribution registers."""

from __future__ import annotations

from collections.abc import Sequence

from sciharness import Capability, hookimpl
from sciharness_xsuite.offers import boundaries, lattices, models, studies, tracks

HOOK_API = 1

CAPABILITIES = (
    lattices.LOAD_CHECK,
    lattices.MADX_TO_XSUITE_JSON,
    tracks.TWISS,
    tracks.TRACK,
    boundaries.SURVIVAL_BOUNDARY,
    boundaries.MOMENTUM_APERTURE,
    boundaries.DYNAMIC_APERTURE,
    studies.SCAN,
    studies.CONVERGENCE,
    models.GENERATE_STABILITY_DATASET,
    models.TRAIN_SURVIVAL_MODEL,
)


@hookimpl
def harness_capabilities() -> Sequence[Capability]:
    """Return the operations on lattices, tracks, survival and apertures."""
    return CAPABILITIES
