"""Examples: inputs and parameters that an author gives for the checks, in ``conformance.yaml``.

count:                      # an operation
with: {at_least: 3}       # its parameters
inputs:
data: {path: tests/data.csv, target: y}   # fields of a contract input
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from sciharness.contract.document import load_document
from sciharness.errors import ContractError
from sciharness.plugin import Input
from sciharness.testkit.samples import given_input

EXAMPLES_HINT = "Give an example in conformance.yaml if it needs something else"
_SHAPE = "an operation has `with` and `inputs`, an input at least `path`"


@frozen
class Example:
    """Parameters and inputs of one operation."""

    params: Mapping[str, Any] = field(factory=dict)  # Any: JSON values
    inputs: Mapping[str, Input] = field(factory=dict)


@frozen
class Examples:
    """The examples of a plugin by operation; an empty one where none is given."""

    by_operation: Mapping[str, Example] = field(factory=dict)

    def of(self, operation: str) -> Example:
        """Return the example of an operation."""
        return self.by_operation.get(operation, Example())


def read_examples(path: Path) -> Examples:
    """Return the examples in a file; paths in it are relative to its folder.

    Raises:
        ContractError: it does not have the shape of examples.
        DataError: an input is not there or is refused.
    """
    document = load_document(path).value
    if not isinstance(document, dict):
        raise ContractError(f"expected a mapping: {_SHAPE}", where=path.name)
    return Examples({name: _example(path, name, one) for name, one in document.items()})


def _example(path: Path, name: str, value: Any) -> Example:  # Any: a value of the document
    inputs = value.get("inputs", {}) if isinstance(value, dict) else None
    sound = isinstance(inputs, dict) and all(
        isinstance(one, dict) and isinstance(one.get("path"), str) for one in inputs.values()
    )
    if not sound or set(value) - {"with", "inputs"}:
        raise ContractError(f"expected other keys: {_SHAPE}", where=f"{path.name}: {name}")
    assert isinstance(inputs, dict)
    return Example(
        params=value.get("with", {}),
        inputs={key: _input(path, key, dict(one)) for key, one in inputs.items()},
    )


def _input(path: Path, name: str, fields: dict[str, Any]) -> Input:  # Any: values of the document
    return given_input(name, (path.parent / fields.pop("path")).resolve(), fields)
