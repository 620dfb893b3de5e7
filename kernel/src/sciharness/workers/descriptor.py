"""Descriptors as JSON: written in the worker, checked by the kernel, kept in the cache."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import attrs

from sciharness.descriptors import LEASED_KINDS, ROLE_KINDS, Descriptor, Operation
from sciharness.errors import PluginError
from sciharness.plugin import GROUPS, PERMISSIONS, Capability, Evaluator, InputSpec, OutputSpec
from sciharness.requests import request_schema
from sciharness.requests.subset import schema_fault
from sciharness.roles import NoOptions, Role
from sciharness.workers.outcome import ANY_METRIC, METRIC
from sciharness.workers.wire import Message

Record = TypeVar("Record")

_OPERATION = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")

_PUBLISHED = ("id", "version")  # what the kernel gives to every publisher

EVALUATION = "evaluation"

Offer = Capability | Evaluator | Role

# Fields that an operation has in common with the records that have them.
_TEXTS = ("metrics", "trusted_metrics", "charges", "delivers")
_LISTS = ("inputs", "outputs", *_TEXTS)
_PLAIN = ("task", "domain", "network", "programs", "final_data", "permission")


def described(plugin_id: str, offer: Offer) -> Message:
    """Return one registered record as JSON values, without its function.

    Raises:
        PluginError: its request class has no schema.
    """
    shared: Message = {name: getattr(offer, name) for name in _PLAIN if hasattr(offer, name)}
    shared |= {name: tuple(getattr(offer, name)) for name in _LISTS if hasattr(offer, name)}
    operation = Operation(
        plugin_id=plugin_id,
        operation=offer.operation,
        kind=type(offer).__name__.lower(),
        summary=offer.summary,
        group=EVALUATION if isinstance(offer, Evaluator) else getattr(offer, "group", ""),
        request_schema=request_schema(getattr(offer, "request", NoOptions)),
        **shared,
    )
    return attrs.asdict(operation)


def descriptor_to_plain(descriptor: Descriptor) -> Message:
    """Return a descriptor as JSON values."""
    return attrs.asdict(descriptor)


def descriptor_from_plain(plain: Mapping[str, Any]) -> Descriptor:  # Any: JSON values
    """Return the descriptor that :func:`descriptor_to_plain` wrote; every field is checked.

    Raises:
        PluginError: a field is missing, unknown or of another type, an operation
            is named twice, a group is unknown, a trusted metric is not declared.
    """
    fields = dict(plain)
    operations = fields.pop("operations", None)
    if not isinstance(operations, list):
        raise PluginError(f"operations have to be a list, got {operations!r}")
    descriptor = _record(
        Descriptor, {**fields, "operations": [_operation(item) for item in operations]}
    )
    names = [operation.operation for operation in descriptor.operations]
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise PluginError(f"operation named twice: {', '.join(twins)}")
    for operation in descriptor.operations:
        if operation.plugin_id != descriptor.plugin_id:
            raise PluginError(f"{operation.name} stands under {descriptor.plugin_id}")
    return descriptor


def _operation(plain: Any) -> Operation:  # Any: JSON values
    if not isinstance(plain, dict):
        raise PluginError(f"an operation has to be a mapping, got {plain!r}")
    fields = dict(plain)
    for name, kind in (("inputs", InputSpec), ("outputs", OutputSpec)):
        fields[name] = tuple(_record(kind, item) for item in _listed(fields.get(name, []), name))
    for name in _TEXTS:
        fields[name] = tuple(_listed(fields.get(name, []), name))
    operation = _record(Operation, fields)
    _check_operation(operation)
    return operation


def _check_operation(operation: Operation) -> None:
    where = operation.name
    if not _OPERATION.fullmatch(operation.operation):
        raise PluginError("operation names are lower-case words joined by underscores", where=where)
    if operation.kind not in (*LEASED_KINDS, *ROLE_KINDS):
        raise PluginError(f"unknown kind {operation.kind!r}", where=where)
    groups = GROUPS if operation.leased else ("",)
    if operation.group not in groups:
        raise PluginError(
            f"unknown group {operation.group!r}, expected one of {', '.join(groups)}", where=where
        )
    if operation.kind == "publisher":
        _check_publisher(operation)
    fault = schema_fault(operation.request_schema)
    if fault or operation.request_schema.get("type") != "object":
        raise PluginError(f"its request schema {fault or 'is for no object'}", where=where)
    if operation.permission and operation.permission not in PERMISSIONS:
        expected = ", ".join(PERMISSIONS)
        raise PluginError(
            f"unknown permission {operation.permission!r}, expected one of {expected}", where=where
        )
    open_ended = (ANY_METRIC,) if operation.kind == "capability" else ()
    bad = [
        name for name in operation.metrics if name not in open_ended and not METRIC.fullmatch(name)
    ]
    if bad:
        raise PluginError(f"{bad[0]!r} is no metric name", where=where)
    undeclared = sorted(set(operation.trusted_metrics) - set(operation.metrics))
    if undeclared:
        raise PluginError(f"trusted but not declared: {', '.join(undeclared)}", where=where)


def _check_publisher(operation: Operation) -> None:
    schema = operation.request_schema
    if not operation.delivers:
        raise PluginError("a publisher names what it delivers", where=operation.name)
    absent = sorted(set(_PUBLISHED) - set(schema.get("properties", {})))
    others = sorted(set(schema.get("required", ())) - set(_PUBLISHED))
    if absent or others:
        said = f"lacks {', '.join(absent)}" if absent else f"needs {', '.join(others)}"
        raise PluginError(f"a publisher is given id and version, it {said}", where=operation.name)


def _record(kind: type[Record], plain: Any) -> Record:  # Any: JSON values
    """Return a record whose plain fields have the types their annotations say."""
    if not isinstance(plain, dict):
        raise PluginError(f"expected a mapping for {kind.__name__}, got {plain!r}")
    wanted = {"str": str, "bool": bool, "int": int}
    known = {item.name: item for item in attrs.fields(kind)}  # type: ignore[arg-type]
    for name, value in plain.items():
        if name not in known:
            raise PluginError(f"{kind.__name__} has no field {name!r}")
        expected = wanted.get(str(known[name].type))
        if expected is not None and type(value) is not expected:
            raise PluginError(f"{kind.__name__}.{name}: expected {known[name].type}, got {value!r}")
    if kind is InputSpec:
        plain = {**plain, "types": tuple(_listed(plain.get("types", []), "types"))}
    if "request_schema" in known and not isinstance(plain.get("request_schema"), dict):
        raise PluginError(f"{kind.__name__}.request_schema: expected a mapping")
    try:
        return kind(**plain)
    except TypeError as error:
        raise PluginError(f"{kind.__name__}: {error}") from error


def _listed(value: Any, name: str) -> list[Any]:  # Any: JSON values
    if not isinstance(value, list | tuple):
        raise PluginError(f"{name} has to be a list, got {value!r}")
    texts = name in (*_TEXTS, "types")
    if texts and not all(isinstance(item, str) for item in value):
        raise PluginError(f"{name} has to be a list of texts, got {value!r}")
    return list(value)
