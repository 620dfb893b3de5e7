"""Executors: a plugin says how the kernel starts programs for the actions of a run.

It covers the inference of visible evaluations and what operations start that
run programs. The final evaluation, `predict` and `call` are the kernel's alone:
nothing may stand between a frozen predictor and the labels.
"""

from __future__ import annotations

import sys

from attrs import evolve

from sciharness.descriptors import Operation
from sciharness.plugins import Leasable
from sciharness.roles import Launch, Program
from sciharness.runtime.programs import Command, Starter, as_it_is, wrapped
from sciharness.runtime.records import ActionRecord
from sciharness.runtime.session import Session
from sciharness.workers.consulting import launch_of
from sciharness.workers.launch import Limits
from sciharness.workers.pool import Job

EXECUTOR_SECONDS = 60.0


def starter(session: Session, record: ActionRecord) -> Starter:
    """Return what says how programs of an action are started in this run."""
    executor = session.executor
    if executor is None:
        return as_it_is
    return lambda program: _launched(session, record, executor, program)


def launch_for(session: Session, record: ActionRecord, operation: Operation) -> Launch | None:
    """Return how programs are started that an operation starts by itself.

    Raises:
        ActionFailed: the executor refuses, or asks for too much.
    """
    if session.executor is None or not operation.programs:
        return None
    program = Program(
        purpose="programs",
        argv=(sys.executable,),
        memory_bytes=Limits().memory_bytes,
        threads=session.workers,
    )
    command = starter(session, record)(program)
    return Launch(
        prefix=command.argv[:-1],
        environment=command.environment,
        wall_seconds=command.wall_seconds,
        memory_bytes=command.memory_bytes,
    )


def _launched(
    session: Session, record: ActionRecord, executor: Leasable, program: Program
) -> Command:
    job = Job(
        pin=executor.pin,
        operation=executor.operation,
        package=executor.package(),
        request=session.state.contract.executor.options,
        inputs={},
        workspace=session.folder / "executor",
        seed=session.state.contract.seed,
        workers=session.workers,
        wall_limit=EXECUTOR_SECONDS,
        subject=program,
    )
    said = session.pool.consult(job, cancelled=session.cancelled)
    launch = launch_of(said.answer)
    command = wrapped(program, launch)
    body = {"index": record.index, "purpose": program.purpose, "prefix": list(launch.prefix)}
    session.record(("ProgramLaunched", body))
    return evolve(command, cpu_seconds=said.cpu_seconds)
