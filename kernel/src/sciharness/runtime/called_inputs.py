"""What a person gives to a call: files and table fields made the inputs of an operation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import define, evolve, field

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
from sciharness.errors import DataError, UsageError
from sciharness.plugin import Input, InputSpec
from sciharness.runtime.inference import predict
from sciharness.store.home import Home
from sciharness.tables import check_table, prepare_labelled, split_labels

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


def called_inputs(
    home: Home, operation: Operation, given: Mapping[str, Given], scratch: Path
) -> dict[str, Input]:
    """Return what a person gave as the inputs of an operation, files made ready for it.

    Raises:
        UsageError: an input is missing or not known.
        DataError: a file is not there, or not what the input takes.
    """
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
