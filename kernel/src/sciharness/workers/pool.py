"""Workers: jobs in, checked results or typed failures out."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from attrs import evolve

from sciharness.contract.records import COUNTED_BUDGET_KEYS
from sciharness.descriptors import Descriptor
from sciharness.errors import PluginError
from sciharness.workers import slots
from sciharness.workers.answers import answer_of, descriptor_of, result_of
from sciharness.workers.child import Grants, Limits
from sciharness.workers.confinement import NONE, probe
from sciharness.workers.crew import Crew, Key, Member
from sciharness.workers.events import EventCheck
from sciharness.workers.failures import ActionFailed, ImportFailed
from sciharness.workers.jobs import Consultation, Job, JobResult, asked
from sciharness.workers.launcher import Launcher
from sciharness.workers.load_set import LoadSet
from sciharness.workers.outcome import Produced
from sciharness.workers.slots import ActionFolders, Slot
from sciharness.workers.wire import Message

__all__ = [
    "ActionFailed",
    "Consultation",
    "ImportFailed",
    "Job",
    "JobResult",
    "LoadSet",
    "Produced",
    "Workers",
]

Result = TypeVar("Result")

CHARGEABLE = (*COUNTED_BUDGET_KEYS, "cpu_hours", "gpu_hours")


class Workers:
    """The workers of one run: started when needed, reused until one fails.

    ``root`` is a folder of their own, on the file system of the store so that
    inputs are linked, not copied. ``hidden`` are folders that no worker may be
    able to read: the home and the contract's folder. Safe to use from several
    threads.
    """

    def __init__(
        self, root: Path, *, hidden: tuple[Path, ...] = (), limits: Limits | None = None
    ) -> None:
        self.root = root
        self.hidden = hidden
        self._crew = Crew()
        self._launcher = Launcher(hidden, limits or Limits())
        slots.recover(root)

    @property
    def isolation(self) -> str:
        """What confines the workers here: ``landlock+seccomp``, ``landlock`` or ``none``."""
        return probe()

    def run(
        self,
        job: Job,
        on_event: Callable[[Message], None] = lambda event: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> JobResult:
        """Run one action and return its checked result.

        ``on_event`` hears ``{"progress": ...}``, ``{"charge": ...}`` and
        ``{"log": ...}`` in this thread while it runs.

        Raises:
            ActionFailed: with the typed reason, charged usage and CPU seconds.
            ContractError: a hidden folder would have been readable.
        """
        result, events, seconds, cpu = self._work(job, result_of, on_event, cancelled)
        return evolve(result, usage=dict(events.usage), seconds=seconds, cpu_seconds=cpu)

    def consult(
        self,
        job: Job,
        on_event: Callable[[Message], None] = lambda event: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Consultation:
        """Ask a role about the subject of the job and return its answer, not yet checked.

        Raises:
            ActionFailed, ContractError: as :meth:`run`.
        """
        answer, events, seconds, cpu = self._work(job, answer_of, on_event, cancelled)
        return Consultation(answer, dict(events.usage), seconds, cpu)

    def check_isolation(self) -> None:
        """Confirm that a worker cannot read the hidden folders; asked before a run begins.

        Raises:
            ContractError: one lies beneath a granted folder.
        """
        self._launcher.check_isolation(self.root)

    def describe(self, package: LoadSet) -> Descriptor:
        """Return what a verified plugin registers, asked of a worker of its own.

        Raises:
            PluginError: it does not import (``ImportFailed`` is its cause), or
                registers something that is no record.
        """
        slot = Slot.made(self.root)
        where = f"{package.package.plugin_id} {package.package.version}"
        try:
            grants = Grants(write=(slot.work,), hidden=self.hidden)
            worker = self._launcher.start(package, slot, grants, 1)
            try:
                said = worker.ask({"describe": True}, seconds=60.0)
            finally:
                worker.close()
        except ActionFailed as failure:
            raise PluginError(
                f"does not load: {failure.message}",
                where=where,
                hint="Run `harness plugin check` to see the whole traceback.",
            ) from failure
        finally:
            slot.remove()
        try:
            return descriptor_of(package, said)
        except PluginError as error:
            raise PluginError(error.message, where=error.where or where) from error

    def close(self) -> None:
        """End all workers and remove their folders."""
        for member in self._crew.dismissed():
            member.end()
        self._launcher.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _work(
        self,
        job: Job,
        take: Callable[[Job, ActionFolders, Message], Result],
        on_event: Callable[[Message], None],
        cancelled: Callable[[], bool],
    ) -> tuple[Result, EventCheck, float, float]:
        """Have a worker do a job; return what ``take`` makes of its answer, and the cost."""
        started = time.monotonic()
        events = EventCheck(CHARGEABLE, on_event)
        taken = self._take(job, cancelled)
        folders = taken.slot.begin(job.workspace)
        before = taken.worker.cpu_seconds()
        try:
            result = take(job, folders, self._said(job, taken, folders, events, cancelled))
        except BaseException as error:
            spent = taken.worker.cpu_seconds() - before
            self._drop(taken, folders)
            if isinstance(error, ActionFailed):
                error.usage = dict(events.usage)
                error.seconds = time.monotonic() - started
                error.cpu_seconds = max(spent, 0.0)
            raise
        cpu = taken.worker.cpu_seconds() - before
        self._give_back(taken, folders, fresh=job.alone)
        return result, events, time.monotonic() - started, max(cpu, 0.0)

    def _said(
        self,
        job: Job,
        taken: Member,
        folders: ActionFolders,
        events: EventCheck,
        cancelled: Callable[[], bool],
    ) -> Message:
        granted = job.alone or taken.worker.launched.level == NONE
        inputs = job.inputs if granted else slots.place(job.inputs, folders.inputs)
        restored = slots.restore_checkpoint(self.root, job.workspace, folders.work)
        return taken.worker.ask(
            {"run": asked(job, inputs, folders.work, restored)},
            on_event=events,
            seconds=job.wall_seconds,
            soft_seconds=job.time_limit,
            cancelled=cancelled,
        )

    def _take(self, job: Job, cancelled: Callable[[], bool]) -> Member:
        """Return a worker for the job, started if none stands by, and count it as at work."""
        operation = job.operation
        if job.private and operation.network:
            raise PluginError(
                "has network access, so it is never given labels", where=operation.name
            )
        pin = job.pin
        key = (pin.plugin_id, pin.digest, job.workers, operation.network, operation.programs)
        member = None if job.alone else self._crew.called(key)
        if member is None:
            member = self._started(job, key, cancelled)
            self._crew.join(member)
        return member

    def _started(self, job: Job, key: Key, cancelled: Callable[[], bool]) -> Member:
        slot = Slot.made(self.root)
        reads = tuple(one.path for one in job.inputs.values()) if job.alone else (slot.inputs,)
        grants = Grants(
            read=reads,
            write=(slot.work,),
            execute=(slot.work,) if job.operation.programs else (),
            sockets=job.operation.network,
            hidden=self.hidden,
        )
        try:
            worker = self._launcher.start(job.package, slot, grants, job.workers, cancelled)
        except BaseException:
            slot.remove()
            raise
        return Member(slot, worker, key)

    def _drop(self, taken: Member, folders: ActionFolders) -> None:
        taken.worker.close()
        slots.keep_checkpoint(self.root, folders.work)
        taken.slot.remove()
        self._crew.leave(taken)

    def _give_back(self, taken: Member, folders: ActionFolders, *, fresh: bool) -> None:
        if fresh:
            taken.end()
            self._crew.leave(taken)
        else:
            taken.slot.end(folders)
            self._crew.stand_by(taken)
