"""One capability outside any run: everything it gives is reported, no vault, no ledger."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attrs import frozen

from sciharness.descriptors import Operation
from sciharness.errors import DataError, HarnessError, RequestError, UsageError
from sciharness.plugin import Input
from sciharness.plugins import Leasable, Plugins
from sciharness.requests import apply_defaults, check_request, split_common
from sciharness.runtime.called_inputs import Given, called_inputs
from sciharness.runtime.execute import canonical
from sciharness.runtime.jobs import run_job
from sciharness.store.home import Home
from sciharness.workers.failures import ActionFailed
from sciharness.workers.pool import Job, JobResult, Produced, Workers

__all__ = ["CallResult", "Given", "call_capability", "run_once"]


# What an operation may refuse, and the error that it then is outside of a run.
_REFUSED: Mapping[str, type[HarnessError]] = MappingProxyType(
    {"data": DataError, "request": RequestError}
)


@frozen
class CallResult:
    """What a call gave, with artifacts as files in the output folder."""

    capability: str
    metrics: Mapping[str, float]
    artifacts: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...]
    seconds: float

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the result as ``call --json`` prints it."""
        return {
            "capability": self.capability,
            "metrics": dict(self.metrics),
            "artifacts": [dict(item) for item in self.artifacts],
            "notes": list(self.notes),
            "seconds": self.seconds,
        }


def call_capability(
    home: Home,
    name: str,
    given: Mapping[str, Given],
    values: Mapping[str, Any],  # Any: JSON values
    out: Path,
    *,
    workers: int = 1,
    on_event: Callable[[Mapping[str, Any]], None] = lambda event: None,  # Any: JSON values
    cancelled: Callable[[], bool] = lambda: False,
) -> CallResult:
    """Run one leased-by-hand capability and put its artifacts into ``out``.

    Raises:
        HarnessError: the capability may not load, an input or the request is refused,
            before the operation runs or by it.
        ActionFailed: the operation failed.
    """
    lease = Plugins(home).lease(name)
    request = _request(lease.operation, values, workers)
    _check_out(out)
    scratch = Path(tempfile.mkdtemp(prefix="call-", dir=home.temporary))
    try:
        inputs = called_inputs(home, lease.operation, given, scratch)
        result = run_once(home, lease, request, inputs, scratch, on_event, cancelled)
        artifacts = _deliver(result, out)
    except ActionFailed as failure:
        refused = _REFUSED.get(failure.reason)
        if refused is None:
            raise
        raise refused(failure.message, where=failure.where) from failure
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return CallResult(name, result.metrics, artifacts, result.notes, round(result.seconds, 3))


def _request(
    operation: Operation, values: Mapping[str, Any], workers: int
) -> dict[str, Any]:  # Any: JSON values
    problems = check_request(operation.request_schema, values)
    if problems:
        raise RequestError(
            f"{len(problems)} parameter{'s' if len(problems) > 1 else ''} refused",
            where=operation.name,
            hint=f"See `harness plugin show {operation.plugin_id}`.",
            problems=problems,
        )
    request = apply_defaults(operation.request_schema, values)
    request.setdefault("seed", 0)
    request.setdefault("workers", workers)
    return request


def run_once(
    home: Home,
    lease: Leasable,
    request: Mapping[str, Any],  # Any: JSON values
    inputs: Mapping[str, Input],
    scratch: Path,
    on_event: Callable[[Mapping[str, Any]], None] = lambda event: None,  # Any: JSON values
    cancelled: Callable[[], bool] = lambda: False,
) -> JobResult:
    """Run an operation in a worker of its own, outside any run.

    ``request`` has ``seed`` and ``workers``. Artifacts lie below ``scratch``.

    Raises:
        ActionFailed: the operation failed.
    """
    parameters, common = split_common(lease.operation.request_schema, request)
    job = Job(
        pin=lease.pin,
        operation=lease.operation,
        package=lease.package(),
        request=parameters,
        inputs=inputs,
        workspace=scratch / "action",
        seed=int(common["seed"]),
        workers=int(common["workers"]),
        time_limit=common.get("time_limit"),
        fresh=True,
    )
    with Workers(scratch / "pool", hidden=(home.path,)) as pool:
        return canonical(run_job(pool, job, on_event, cancelled))


def _check_out(out: Path) -> None:
    """Refuse a place for results where nothing could be written, before anything runs."""
    place = next((one for one in (out, *out.absolute().parents) if one.exists()), out)
    if not place.is_dir() or not os.access(place, os.W_OK):
        reason = "cannot be written" if place.is_dir() else "is no folder"
        raise _no_place(reason, place)


def _no_place(reason: str, place: Path) -> UsageError:
    return UsageError(reason, where=f"--out {place}", hint="Choose another folder.")


def _deliver(result: JobResult, out: Path) -> tuple[Mapping[str, str], ...]:
    try:
        if result.artifacts:
            out.mkdir(parents=True, exist_ok=True)
        return tuple(
            _placed(produced, out)
            for produced in sorted(result.artifacts, key=lambda item: item.name)
        )
    except OSError as fault:
        raise _no_place(f"cannot be written: {fault.strerror}", out) from fault


def _placed(produced: Produced, out: Path) -> Mapping[str, str]:
    # Through a temporary name: a file in ``out`` is complete or not there.
    target = out / produced.name
    handle, partial = tempfile.mkstemp(prefix=".partial-", dir=out)
    os.close(handle)
    shutil.copyfile(produced.path, partial)
    os.chmod(partial, 0o644)
    os.replace(partial, target)
    with target.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {
        "name": produced.name,
        "type": produced.type,
        "sha256": digest,
        "path": str(target.resolve()),
    }
