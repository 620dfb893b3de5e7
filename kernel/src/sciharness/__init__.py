"""sciharness: a contract in, a result one can trust out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sciharness.agent_context import AgentContext
    from sciharness.hooks import HOOK_API, hookimpl
    from sciharness.plugin import (
        PREDICTOR_OUTPUTS,
        Capability,
        Context,
        Evaluator,
        Input,
        InputSpec,
        Outcome,
        OutputSpec,
        Table,
    )
    from sciharness.roles import (
        Executor,
        Finish,
        Launch,
        Package,
        Program,
        Proposal,
        Publisher,
        Reasoner,
        ReasonerView,
        Review,
        Reviewer,
    )
    from sciharness.tables import read_table
    from sciharness_catalog.canonical import canonical_json

# Names are loaded when first used: a worker confines itself before it imports
# anything beyond the standard library, and `harness --help` stays quick.
_PLACES = {
    "AgentContext": "sciharness.agent_context",
    "HOOK_API": "sciharness.hooks",
    "hookimpl": "sciharness.hooks",
    "PREDICTOR_OUTPUTS": "sciharness.plugin",
    "Capability": "sciharness.plugin",
    "Context": "sciharness.plugin",
    "Evaluator": "sciharness.plugin",
    "Input": "sciharness.plugin",
    "InputSpec": "sciharness.plugin",
    "Outcome": "sciharness.plugin",
    "OutputSpec": "sciharness.plugin",
    "Executor": "sciharness.roles",
    "Finish": "sciharness.roles",
    "Launch": "sciharness.roles",
    "Package": "sciharness.roles",
    "Program": "sciharness.roles",
    "Proposal": "sciharness.roles",
    "Publisher": "sciharness.roles",
    "Reasoner": "sciharness.roles",
    "ReasonerView": "sciharness.roles",
    "Review": "sciharness.roles",
    "Reviewer": "sciharness.roles",
    "Result": "sciharness.api",
    "Table": "sciharness.plugin",
    "canonical_json": "sciharness_catalog.canonical",
    "read_table": "sciharness.tables",
    "run": "sciharness.api",
}

__all__ = [
    "HOOK_API",
    "PREDICTOR_OUTPUTS",
    "AgentContext",
    "Capability",
    "Context",
    "Evaluator",
    "Executor",
    "Finish",
    "Input",
    "InputSpec",
    "Launch",
    "Outcome",
    "OutputSpec",
    "Package",
    "Program",
    "Proposal",
    "Publisher",
    "Reasoner",
    "ReasonerView",
    "Result",
    "Review",
    "Reviewer",
    "Table",
    "canonical_json",
    "hookimpl",
    "read_table",
    "run",
]


def __getattr__(name: str) -> Any:  # Any: whatever the public name is
    if name not in _PLACES:
        raise AttributeError(f"module 'sciharness' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PLACES[name]), name)
