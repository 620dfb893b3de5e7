"""What fits into which input, and which rows of a table a step may see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from attrs import evolve

from sciharness.contract.artifact_types import (
    DATASET,
    DIRECTORY_BUNDLE,
    PREDICTOR,
    REPORT,
    type_of_file,
)
from sciharness.contract.records import Contract, ContractInput, Holdout
from sciharness.contract.steps import TRAIN, WHOLE
from sciharness.descriptors import Operation
from sciharness.plugin import InputSpec, OutputSpec

REPORT_GROUP = "report and visualisation"
VERIFICATION_GROUP = "knowledge and verification"

LABELLED = "labelled_table"
CONTEXT_DATA = "context_data"
# Roles that say little; what has another role is meant for inputs that ask for it.
GENERAL_ROLES = (LABELLED, "table", "other")
_TABLE_ROLES = (LABELLED, "table")

# What a contract binds for an evaluator; the kernel makes predictions and labels of it.
_EVALUATOR_INPUTS = (
    InputSpec("predictor", ("predictor",), summary="the step whose predictor is judged"),
    InputSpec("data", (LABELLED,), summary="the labelled table"),
)


def is_evaluator(operation: Operation) -> bool:
    """Return whether an operation judges predictions."""
    return operation.kind == "evaluator"


def is_report(operation: Operation) -> bool:
    """Return whether an operation writes the report of the run."""
    types = [output.type.lower() for output in operation.outputs]
    return operation.group == REPORT_GROUP and (not types or REPORT in types)


def bindable_inputs(operation: Operation) -> tuple[InputSpec, ...]:
    """Return the inputs that a contract may bind; what the kernel gives is left out."""
    if is_evaluator(operation):
        return _EVALUATOR_INPUTS
    if is_report(operation):
        others = [spec for spec in operation.inputs if spec.name != "run"]
        return tuple(evolve(spec, optional=True) for spec in others)
    return operation.inputs


def wants_predictor(spec: InputSpec) -> bool:
    """Return whether an input is a predictor: three files that belong together."""
    return spec.name == "predictor" or "predictor" in map(str.lower, spec.types)


def makes_predictor(operation: Operation) -> bool:
    """Return whether an operation writes exactly one model, inference source and card."""
    count = Counter(output.type.lower() for output in operation.outputs)
    return all(count[kind] == 1 for kind in PREDICTOR)


def input_type(item: ContractInput, types: Mapping[str, str]) -> str:
    """Return the artifact type of a contract input as steps see it."""
    kind = types.get(item.name) or type_of_file(item.path)
    return DATASET if kind == DIRECTORY_BUNDLE and item.role == LABELLED else kind


def fits_role(spec: InputSpec, item: ContractInput) -> bool:
    """Return whether an input was declared for the role of ``item``."""
    return item.role in spec.types


def hint_about_target(spec: InputSpec, inputs: Iterable[ContractInput]) -> str:
    """Return why a context.data directory does not fit: its target decides how it is shown."""
    for item in inputs:
        if item.directory and item.role != LABELLED and LABELLED in spec.types:
            return f"Name the variable to predict as `target` of `{item.name}`."
        if item.directory and item.role == LABELLED and CONTEXT_DATA in spec.types:
            return f"`{item.name}` has a target, so it is shown as rows; without one, as it is."
    return ""


def fits_type(spec: InputSpec, kind: str) -> bool:
    """Return whether an artifact type is one of those declared."""
    return kind.lower() in map(str.lower, spec.types)


def fits_as_table(spec: InputSpec, kind: str) -> bool:
    """Return whether a step's data set can take the place of a table of the contract."""
    return kind.upper() == DATASET and any(role in spec.types for role in _TABLE_ROLES)


def fitting_outputs(spec: InputSpec, operation: Operation) -> tuple[OutputSpec, ...]:
    """Return the artifacts of an operation that fit into an input."""
    outputs = operation.outputs
    if not spec.types:
        return outputs
    exact = tuple(output for output in outputs if fits_type(spec, output.type))
    return exact or tuple(output for output in outputs if fits_as_table(spec, output.type))


def is_split(item: ContractInput, holdout: Holdout) -> bool:
    """Return whether final rows of an input are sealed."""
    return item.role == LABELLED and holdout.mode in ("fraction", "group", "order")


def visible_view(item: ContractInput, contract: Contract) -> str:
    """Return the view of an input that an ordinary step gets."""
    return TRAIN if is_split(item, contract.holdout) else WHOLE
