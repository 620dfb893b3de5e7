"""Jobs and their results: what the run hands to the workers and gets back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from sciharness.descriptors import Operation
from sciharness.plugin import Input
from sciharness.roles import Launch
from sciharness.workers.consulting import Subject, subject_to_plain
from sciharness.workers.load_set import LoadSet
from sciharness.workers.outcome import Produced
from sciharness.workers.wire import Message, input_to_plain
from sciharness_catalog.pins import Pin


@frozen
class Job:
    """One action for a worker.

    ``request`` are the values for the request class, defaults filled in or not.
    ``workspace`` is the action's folder, out of the worker's reach: artifacts
    end up in its ``outputs``. A job with the same workspace finds the
    checkpoint of an unfinished attempt. ``time_limit`` is told to
    the operation, which is asked to stop after it; ``wall_limit`` ends it
    (default: 10 s and a quarter more). ``fresh`` takes a worker of its own, which
    ends with the action; ``private`` says that an input is secret: it is fresh
    too, and never has sockets. ``subject`` is what a role is asked about,
    ``launch`` how an executor wants the operation's programs started.
    """

    pin: Pin
    operation: Operation
    package: LoadSet
    request: Mapping[str, Any]  # Any: JSON values
    inputs: Mapping[str, Input]
    workspace: Path
    seed: int = 0
    workers: int = 1
    time_limit: float | None = None
    wall_limit: float | None = None
    fresh: bool = False
    private: bool = False
    subject: Subject | None = None
    launch: Launch | None = None

    @property
    def alone(self) -> bool:
        """Whether it gets a worker that does nothing else before or after."""
        return self.fresh or self.private

    @property
    def wall_seconds(self) -> float | None:
        """After how many seconds the worker is ended, ``None`` for never."""
        if self.wall_limit is not None or self.time_limit is None:
            return self.wall_limit
        return self.time_limit * 1.25 + 10.0


@frozen
class JobResult:
    """What an action gave: checked metrics, files, notes, charged usage and its cost."""

    metrics: Mapping[str, float]
    artifacts: tuple[Produced, ...]
    notes: tuple[str, ...]
    usage: Mapping[str, float]
    seconds: float
    cpu_seconds: float


@frozen
class Consultation:
    """What a role answered, as JSON values of its worker, with charged usage and its cost."""

    answer: Mapping[str, Any]  # Any: JSON values
    usage: Mapping[str, float]
    seconds: float
    cpu_seconds: float


def asked(job: Job, inputs: Mapping[str, Input], folder: Path, restored: Path | None) -> Message:
    """Return a job as the worker reads it; ``folder`` is where the operation may write."""
    return {
        "operation": job.operation.operation,
        "request": dict(job.request),
        "inputs": {name: input_to_plain(one) for name, one in inputs.items()},
        "workspace": str(folder),
        "seed": job.seed,
        "workers": job.workers,
        "time_limit": job.time_limit,
        "restored": None if restored is None else str(restored),
        "subject": None if job.subject is None else subject_to_plain(job.subject),
        "launch": None if job.launch is None else attrs.asdict(job.launch),
    }
