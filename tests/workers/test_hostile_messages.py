"""Whatever a worker writes, the kernel has a message or a typed error."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciharness.descriptors import Descriptor, Operation
from sciharness.errors import PluginError
from sciharness.plugin import InputSpec, OutputSpec
from sciharness.workers.descriptor import descriptor_from_plain, descriptor_to_plain
from sciharness.workers.events import EventCheck
from sciharness.workers.failures import ActionFailed
from sciharness.workers.outcome import checked_metrics, checked_notes, checked_outputs
from sciharness.workers.wire import WireError, decode, encode, read_lines

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["progress", "charge", "log", "level", "message", "fraction", "best", "x"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)

OPERATION = Operation(
    plugin_id="tiny",
    operation="add",
    kind="evaluator",
    summary="adds",
    group="evaluation",
    request_schema={"type": "object", "properties": {}},
    inputs=(InputSpec("data", ("DATASET",)),),
    outputs=(OutputSpec("out.txt", "OTHER"),),
    metrics=("total",),
    trusted_metrics=("total",),
)
DESCRIPTOR = Descriptor("tiny", "1.0", "harness-tiny", "0" * 64, 1, (OPERATION,))  # type: ignore[arg-type]
PLAIN: dict[str, Any] = json.loads(json.dumps(descriptor_to_plain(DESCRIPTOR)))


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_a_line_is_a_message_or_a_wire_error(line: bytes) -> None:
    try:
        message = decode(line)
    except WireError:
        return
    assert isinstance(message, dict)
    assert decode(encode(message)) == message


@given(JSON)
def test_an_event_is_passed_on_or_nonsense(event: Any) -> None:
    heard: list[dict[str, Any]] = []
    with contextlib.suppress(ActionFailed):
        EventCheck(("solver_calls",), heard.append)(event)
    for message in heard:
        json.dumps(message, allow_nan=False).encode("utf-8")


@given(JSON, JSON, JSON)
def test_an_outcome_is_checked_or_a_typed_failure(metrics: Any, notes: Any, outputs: Any) -> None:
    for check in (
        lambda: checked_metrics(metrics, ("x",)),
        lambda: checked_notes(notes),
        lambda: checked_outputs(outputs),
    ):
        with contextlib.suppress(ActionFailed):
            check()


def test_a_descriptor_comes_back_as_it_was() -> None:
    assert descriptor_from_plain(PLAIN) == DESCRIPTOR


@given(
    st.sampled_from(sorted(PLAIN["operations"][0])) | st.just("unknown"),
    JSON,
    st.booleans(),
)
def test_a_changed_descriptor_is_read_or_refused(name: str, value: Any, drop: bool) -> None:
    changed = json.loads(json.dumps(PLAIN))
    if drop:
        changed["operations"][0].pop(name, None)
    else:
        changed["operations"][0][name] = value
    try:
        found = descriptor_from_plain(changed)
    except PluginError:
        return
    assert isinstance(found, Descriptor)
    hash(found.operations[0].metrics)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("group", "magic", "unknown group"),
        ("operation", "Add", "lower-case words"),
        ("trusted_metrics", ["other"], "trusted but not declared: other"),
        ("metrics", ["bad name"], "no metric name"),
        ("kind", "helper", "unknown kind"),
        ("request_schema", {"type": "string"}, "is for no object"),
        ("request_schema", {"type": "object", "$ref": "file:///etc/passwd"}, "uses '\\$ref'"),
        ("network", 1, "expected bool"),
    ],
)
def test_what_a_plugin_registers_is_checked(field: str, value: object, said: str) -> None:
    changed = json.loads(json.dumps(PLAIN))
    changed["operations"][0][field] = value

    with pytest.raises(PluginError, match=said):
        descriptor_from_plain(changed)


def test_an_operation_named_twice_is_refused() -> None:
    twice = {**PLAIN, "operations": PLAIN["operations"] * 2}

    with pytest.raises(PluginError, match="named twice"):
        descriptor_from_plain(twice)


def test_a_long_line_is_refused_before_it_ends() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"x" * 3000)

    with pytest.raises(WireError) as caught:
        next(read_lines(reader, max_line=1000))

    assert caught.value.limit
    os.close(reader)
    os.close(writer)
