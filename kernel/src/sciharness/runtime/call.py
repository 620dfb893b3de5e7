"""One capability outside any run: everything it gives is reported, no vault, no ledger."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import define, evolve, field, frozen

from sciharness.bundles.zip_scan import unpack_zip
from sciharness.contract._resolve import input_of
from sciharness.contract.artifact_types import (
    DATASET,
    DIRECTORY_BUNDLE,
    SOLVER_BUNDLE,
    type_of_file,
)
from sciharness.contract.findings import Findings, nearest, raise_for
from sciharness.contract.inputs import MANIFEST, REFERENCE_SOLVER, check_file
from sciharness.contract.read import read_input
from sciharness.contract.records import ContractInput, Holdout
from sciharness.descriptors import Operation
from sciharness.errors import DataError, RequestError, UsageError
from sciharness.plugin import Input, InputSpec
from sciharness.plugins import Leasable, Plugins
from sciharness.requests import apply_defaults, check_request, split_common
from sciharness.runtime.execute import canonical
from sciharness.runtime.inference import predict
from sciharness.runtime.jobs import run_job
from sciharness.store.home import Home
from sciharness.tables import check_table, prepare_labelled, split_labels
from sciharness.workers.pool import Job, JobResult, Produced, Workers

_SAYS_LABELLED = frozenset({"target", "task", "features", "weights", "sigma"})
_TABLES = frozenset({DATASET, "labelled_table", "table"})
TABLE_SUFFIXES = frozenset({".csv", ".tsv", ".parquet"})
_SOLVER_ROLE = "reference_solver"
_EVALUATOR_INPUTS = (InputSpec("predictor", ("predictor",)), InputSpec("data", ("labelled_table",)))


@define
class Given:
    """What a person gave for one input: a path and table fields."""

    path: Path | None = None
    fields: dict[str, Any] = field(factory=dict)  # Any: JSON values


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
        HarnessError: the capability may not load, an input or the request is refused.
        ActionFailed: the operation failed.
    """
    lease = Plugins(home).lease(name)
    request = _request(lease.operation, values, workers)
    _check_out(out)
    scratch = Path(tempfile.mkdtemp(prefix="call-", dir=home.temporary))
    try:
        inputs = _inputs(home, lease.operation, given, scratch)
        result = run_once(home, lease, request, inputs, scratch, on_event, cancelled)
        artifacts = _deliver(result, out)
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


def _inputs(
    home: Home, operation: Operation, given: Mapping[str, Given], scratch: Path
) -> dict[str, Input]:
    evaluates = operation.kind == "evaluator"
    specs = _EVALUATOR_INPUTS if evaluates else operation.inputs
    known = {spec.name: spec for spec in specs}
    for name in given:
        if input_of(name, known) is None:
            best = nearest(name, known)
            hint = (
                f"Did you mean `{best}`?" if best else f"It takes: {', '.join(known) or 'nothing'}."
            )
            raise UsageError(f"there is no input `{name}`", where=operation.name, hint=hint)
    for spec in specs:
        if not spec.optional and (spec.name not in given or given[spec.name].path is None):
            raise UsageError(
                f"the input `{spec.name}` is missing",
                where=operation.name,
                hint=f"Give it with --input {spec.name}=PATH.",
            )
    if evaluates:
        return _evaluator_inputs(home, given, scratch)
    found = ((input_of(name, known), entry) for name, entry in given.items())
    return {
        spec.name: _one_input(spec, entry, scratch) for spec, entry in found if spec is not None
    }


def _one_input(spec: InputSpec, given: Given, scratch: Path) -> Input:
    path = _existing(spec.name, given.path)
    if "reference_solver" in spec.types:
        return _solver_input(spec.name, given, path, scratch)
    if path.is_dir():
        return _folder_input(spec, given, path, scratch)
    kind = type_of_file(path.name)
    if kind != DATASET or not (_reads_tables(spec) and _is_table(path, given)):
        return Input(name=spec.name, path=path, type=spec.types[0] if spec.types else kind)
    role = "labelled_table" if _labelled(spec, given) else "table"
    item = read_input({"name": "data", "path": str(path), "role": role, **given.fields})
    return _table_input(spec.name, path, item, scratch)


def _solver_input(name: str, given: Given, path: Path, scratch: Path) -> Input:
    """Return a solver's folder, checked as in a contract."""
    fields = {"name": name, "path": path.name, "role": REFERENCE_SOLVER, **given.fields}
    findings = Findings()
    item = read_input(fields)
    check_file(item, path.parent, ("inputs", name), findings)
    raise_for(findings.problems, str(given.path))
    if path.is_file():
        unpack_zip(path, scratch / f"solver-{name}")
        path = scratch / f"solver-{name}"
    meta = {"solver": dict(item.solver)} if item.solver is not None else {}
    return Input(name, path, SOLVER_BUNDLE, role=REFERENCE_SOLVER, meta=meta)


def _folder_input(spec: InputSpec, given: Given, path: Path, scratch: Path) -> Input:
    if _gives_rows(spec, given, path):
        fields = {"name": "data", "path": str(path), "role": "labelled_table", **given.fields}
        return _table_input(spec.name, path, read_input(fields), scratch)
    if spec.types and set(spec.types) <= _TABLES:
        raise DataError(
            "is a folder",
            where=f"{spec.name}={given.path}",
            hint="Name a table file or a context.data directory.",
        )
    if "context_data" not in spec.types:
        kind = spec.types[0] if spec.types else DIRECTORY_BUNDLE
        return Input(name=spec.name, path=path, type=kind, **_solver(spec, given, path))
    checked = check_table(path, ContractInput("data", path.name, "context_data"))
    raise_for(checked.problems, str(path))
    return Input(name=spec.name, path=path, type=DIRECTORY_BUNDLE, role="context_data")


def _solver(spec: InputSpec, given: Given, path: Path) -> dict[str, Any]:  # Any: JSON values
    """Return role and `solver:` block of a folder that is given as a solver."""
    if _SOLVER_ROLE not in spec.types:
        return {}
    fields = {"name": "solver", "path": str(path), "role": _SOLVER_ROLE, **given.fields}
    item = read_input(fields)
    return {"role": _SOLVER_ROLE, "meta": {"solver": dict(item.solver)} if item.solver else {}}


def _gives_rows(spec: InputSpec, given: Given, folder: Path) -> bool:
    """Whether a context.data directory is given for the cells of a target."""
    asked = "labelled_table" in spec.types and "context_data" not in spec.types
    return ("target" in given.fields or asked) and (folder / MANIFEST).is_file()


def _reads_tables(spec: InputSpec) -> bool:
    return not spec.types or not {"DATASET", "labelled_table", "table"}.isdisjoint(spec.types)


def _is_table(path: Path, given: Given) -> bool:
    return bool(given.fields) or path.suffix.lower() in TABLE_SUFFIXES


def _labelled(spec: InputSpec, given: Given) -> bool:
    """Whether a table is read as labelled: not if any will do and nothing says what it holds."""
    return bool(given.fields.keys() & _SAYS_LABELLED) or "table" not in spec.types


def _table_input(name: str, path: Path, item: ContractInput, scratch: Path) -> Input:
    if path.is_dir():
        item = evolve(item, path=path.name)
        made = prepare_labelled(path, item, Holdout(mode="none"), _folder(scratch / f"rows-{name}"))
        assert made.train is not None  # without a split all rows are visible
        return Input(name, made.train, DATASET, role=item.role, table=made.table)
    checked = check_table(path, item)
    raise_for(checked.problems, str(path))
    return Input(name=name, path=path, type=DATASET, role=item.role, table=checked.table)


def _existing(name: str, path: Path | None) -> Path:
    if path is None or not path.exists():
        raise DataError(
            "there is no such file or folder",
            where=f"{name}={path}",
            hint="Give the path of an existing file.",
        )
    return path.resolve()


def _evaluator_inputs(home: Home, given: Mapping[str, Given], scratch: Path) -> dict[str, Input]:
    # Only for evaluators: most calls have nothing to do with generated plugins.
    from sciharness.generated.predicting import lay_out, predictor_of

    source = str(given["predictor"].path)
    if not Path(source).is_dir() and ("/" in source or Path(source).exists()):
        _existing("predictor", given["predictor"].path)
    # The bytes that predict are the bytes in this copy, whatever happens to the source.
    copy = lay_out(predictor_of(home, source), scratch / "predictor")
    data = _existing("data", given["data"].path)
    card = _card(copy / "model_card.json")
    fields = {
        "name": "data",
        "path": str(data),
        "role": "labelled_table",
        "task": card["task"],
        "target": card["target"]["name"],
        **given["data"].fields,
    }
    features = [column["name"] for column in card["columns"]]
    if features:  # a constant predictor has none; then any columns do
        fields = {"features": features, **fields}
    table = _table_input("data", data, read_input(fields), scratch)
    rows, labels = split_labels(table, _folder(scratch / "rows"))
    predictions = predict(copy, rows, _folder(scratch / "predict")).path
    assert table.table is not None
    meta = {
        "task": table.table.task,
        "classes": list(table.table.classes),
        "target": table.table.target,
        "train_mean": None,
        "last_query": True,
        "view": "visible",
    }
    return {
        "predictions": Input(name="predictions", path=predictions, type="DATASET"),
        "labels": Input(name="labels", path=labels, type="DATASET", meta=meta),
    }


def _card(path: Path) -> Mapping[str, Any]:  # Any: JSON values
    try:
        card = json.loads(path.read_text("utf-8"))
        card["task"], card["target"]["name"], [column["name"] for column in card["columns"]]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise DataError(
            "is no model card of file-predictor-v1",
            where=str(path),
            hint="It needs task, target.name and columns[].name.",
        ) from fault
    found: Mapping[str, Any] = card
    return found


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


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
