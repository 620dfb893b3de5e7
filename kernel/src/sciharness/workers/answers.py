"""What a worker has answered, checked: results, opinions, descriptors."""

from __future__ import annotations

from sciharness.descriptors import Descriptor
from sciharness.errors import PluginError
from sciharness.workers import slots
from sciharness.workers.descriptor import descriptor_from_plain
from sciharness.workers.failures import ActionFailed
from sciharness.workers.jobs import Job, JobResult
from sciharness.workers.load_set import LoadSet
from sciharness.workers.outcome import (
    Produced,
    checked_metrics,
    checked_notes,
    checked_outputs,
    collected,
)
from sciharness.workers.slots import ActionFolders
from sciharness.workers.wire import Message


def answer_of(job: Job, folders: ActionFolders, said: Message) -> Message:
    """Return what a role has answered, not yet checked.

    Raises:
        ActionFailed: it is no answer.
    """
    answer = said.get("answer")
    if not isinstance(answer, dict):
        raise ActionFailed("gave no answer", reason="nonsense")
    return answer


def result_of(job: Job, folders: ActionFolders, said: Message) -> JobResult:
    """Return the checked outcome of an action; its artifacts are taken out of the worker's reach.

    Raises:
        ActionFailed: it is no outcome, or metrics, notes or artifacts break the rules.
    """
    done = said.get("done")
    if not isinstance(done, dict):
        raise ActionFailed("answered something that is no outcome", reason="nonsense")
    metrics = checked_metrics(done.get("metrics"), job.operation.metrics)
    notes = checked_notes(done.get("notes"))
    outputs = checked_outputs(done.get("outputs"))
    produced: tuple[Produced, ...] = ()
    if outputs or any(not spec.optional for spec in job.operation.outputs):
        taken_out = slots.take_outputs(folders.work, job.workspace)
        produced = collected(taken_out, outputs, job.operation)
    return JobResult(metrics, produced, notes, {}, 0.0, 0.0)


def descriptor_of(package: LoadSet, said: Message) -> Descriptor:
    """Return what a plugin says it registers, under the name that was verified.

    Raises:
        PluginError: it is no descriptor.
    """
    found = said.get("descriptor")
    if not isinstance(found, dict):
        raise PluginError("answered something that is no descriptor")
    verified = package.package
    return descriptor_from_plain(
        {
            **found,
            "plugin_id": verified.plugin_id,
            "version": verified.version,
            "distribution": verified.distribution,
            "digest": verified.digest,
        }
    )
