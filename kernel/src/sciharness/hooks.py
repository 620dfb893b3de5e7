"""Hook specifications: what a plugin registers.

Every hook takes no argument and returns typed records, so no result depends on
the order of plugins. A plugin implements the hooks it needs with ``@hookimpl``
on functions of these names, in the module (or object) that its entry point in
the group ``sciharness.plugins`` names.

Hooks are called in a verified worker only: once to describe the plugin, and
again in each worker that runs something of it. The kernel process reads the
description and never imports a plugin. An exception in a hook, or a record of
another type, marks the plugin as ``broken``; other plugins are not affected.

``HOOK_API`` is the number that plugin and kernel have to agree on; a plugin may
state it as ``HOOK_API = 1`` in its module. Within one number changes are only
additions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from sciharness.plugin import Capability, Evaluator
    from sciharness.roles import Executor, Publisher, Reasoner, Reviewer

PROJECT = "harness"
ENTRY_POINT_GROUP = "sciharness.plugins"
HOOK_API = 1

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def harness_capabilities() -> Sequence[Capability]:  # type: ignore[empty-body]
    """Return the operations that a contract may lease.

    ``run(request, context)`` is called once for each action. The kernel checks
    the parameters by the schema of ``request``, takes the declared artifacts
    and metrics, and records what everything came from. An exception there fails
    the action, not the run. Since ``HOOK_API`` 1.
    """


@hookspec
def harness_evaluators() -> Sequence[Evaluator]:  # type: ignore[empty-body]
    """Return the evaluators that may judge a frozen predictor.

    An evaluator is leased like a capability and called with predictions that
    the kernel made and the labels they belong to, in a fresh worker. Its
    metrics are trusted only when this installation grants that to the exact
    digest, and only in the final evaluation. An exception fails the action.
    Since ``HOOK_API`` 1.
    """


@hookspec
def harness_reviewers() -> Sequence[Reviewer]:  # type: ignore[empty-body]
    """Return the reviewers (ExternalBinarySecurityReviewer) of packages.

    ``run(package, context)`` is called where a package is published, installed
    or exported, in a fresh worker; every admitted reviewer is asked. Any refusal
    refuses, and so does an exception, a timeout or an admitted reviewer that is
    no longer what was admitted. Without any the policy is
    ``permissive_deferred``, which says that no review was made. Since
    ``HOOK_API`` 1.
    """


@hookspec
def harness_publishers() -> Sequence[Publisher]:  # type: ignore[empty-body]
    """Return the publishers that make packages from accepted artifacts.

    Chosen by ``deliver`` in the contract, never leased: ``run(request,
    context)`` is called once for each deliverable after the run succeeded and
    ``permissions.publish_plugins`` allows it. The kernel checks what was made
    against the run's record. An exception makes the delivery fail; the research
    stays as it is. Since ``HOOK_API`` 1.
    """


@hookspec
def harness_reasoners() -> Sequence[Reasoner]:  # type: ignore[empty-body]
    """Return the reasoners that may propose the actions of a run.

    Chosen by ``reasoner: {use: PLUGIN_ID.OPERATION, ...options}``.
    ``run(request, view, context)`` is called before each action and returns one
    ``Proposal`` or ``Finish``. Every proposal goes through the same gate as a
    step of a contract; a refusal is told in the next view. Each call counts as
    one ``reasoner_calls``. An exception is asked again; after three in a row
    the run stops and can be resumed. Since ``HOOK_API`` 1.
    """


@hookspec
def harness_executors() -> Sequence[Executor]:  # type: ignore[empty-body]
    """Return the executors that say how the kernel starts programs for actions.

    Chosen by ``executor: {use: PLUGIN_ID.OPERATION, ...options}``.
    ``run(request, program, context)`` is called before each such program and
    returns a ``Launch``: words in front of its command, further variables,
    tighter limits. The kernel starts it, confines it and reads the result. The
    final evaluation is not covered: there the kernel starts the frozen
    predictor itself. An exception fails the action. Since ``HOOK_API`` 1.
    """
