"""Hook specifications: what a plugin registers.

Every hook takes no argument and returns typed records, so no result depends on
the order of plugins. ``HOOK_API`` is the number that plugin and kernel have to
agree on; within one number changes are only additions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from sciharness.plugin import Capability, Evaluator

PROJECT = "harness"
ENTRY_POINT_GROUP = "sciharness.plugins"
HOOK_API = 1

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def harness_capabilities() -> Sequence[Capability]:  # type: ignore[empty-body]
    """Return the operations that a contract may lease.

    Called once in a verified worker to describe the plugin, and again in each
    worker that runs one of its operations. An exception marks the plugin as
    broken; other plugins are not affected. Since ``HOOK_API`` 1.
    """


@hookspec
def harness_evaluators() -> Sequence[Evaluator]:  # type: ignore[empty-body]
    """Return the evaluators that may judge a frozen predictor.

    An evaluator is leased like a capability. Its metrics are trusted only when
    this installation's catalog grants that to the exact digest, and only in
    the final evaluation. Since ``HOOK_API`` 1.
    """
