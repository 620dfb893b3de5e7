"""Descriptors: what a plugin offers, readable without importing it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from sciharness.plugin import InputSpec, OutputSpec

LEASED_KINDS = ("capability", "evaluator")
# Installed predictors and solver adapters are leased too; no plugin may register one.
PREDICTOR_KIND = "predictor"
SOLVER_KIND = "solver"
ROLE_KINDS = ("reasoner", "executor", "reviewer", "publisher")


@frozen
class Operation:
    """One operation of a plugin as preflight, gate and worker see it.

    ``kind`` is ``capability`` or ``evaluator``, which a contract leases, or a
    role that it does not: ``reasoner``, ``executor``, ``reviewer`` or
    ``publisher``, whose ``group`` is empty. ``request_schema`` is the JSON
    Schema of its request class. ``trusted_metrics`` is what the plugin asks
    for; whether it is granted is the catalog's word, see :class:`Leasable`.
    ``delivers`` are the names by which ``deliver`` chooses a publisher.
    """

    plugin_id: str
    operation: str
    kind: str
    summary: str
    group: str
    request_schema: Mapping[str, Any]  # Any: JSON Schema
    inputs: tuple[InputSpec, ...] = ()
    outputs: tuple[OutputSpec, ...] = ()
    metrics: tuple[str, ...] = ()
    trusted_metrics: tuple[str, ...] = ()
    task: str = ""
    domain: str = ""
    network: bool = False
    programs: bool = False
    final_data: bool = False
    charges: tuple[str, ...] = ()
    permission: str = ""
    delivers: tuple[str, ...] = ()

    @property
    def leased(self) -> bool:
        """Whether a contract names it among its capabilities."""
        return self.kind in (*LEASED_KINDS, PREDICTOR_KIND, SOLVER_KIND)

    @property
    def name(self) -> str:
        """The capability name: ``plugin_id.operation``."""
        return f"{self.plugin_id}.{self.operation}"


@frozen
class Descriptor:
    """Everything one plugin registers, cached under its implementation digest."""

    plugin_id: str
    version: str
    distribution: str
    digest: str
    hook_api: int
    operations: tuple[Operation, ...] = field(default=(), converter=tuple)
