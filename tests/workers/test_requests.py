"""Requests: from an attrs class to a schema, checked by schema alone, back to an instance."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NewType

import jsonschema  # type: ignore[import-untyped]  # the oracle
import pytest
from attrs import Factory, field, frozen, validators
from hypothesis import given
from hypothesis import strategies as st

from sciharness.errors import PluginError, RequestError
from sciharness.requests import (
    apply_defaults,
    build_request,
    check_request,
    request_schema,
    split_common,
)
from sciharness.requests.subset import schema_fault

Metre = NewType("Metre", float)


class Rule(enum.Enum):
    FIRST = "first"
    LAST = "last"


@frozen
class Span:
    low: float
    high: float = 1.0


@frozen
class Everything:
    switch: bool = False
    count: int = field(default=10, validator=[validators.ge(1), validators.lt(100)])
    share: float = field(default=0.5, validator=validators.gt(0), metadata={"help": "a share"})
    loss: Literal["mse", "mae"] = "mse"
    level: Literal[1, 2, 3] = 1
    maybe: float | None = field(default=None, validator=validators.optional(validators.le(5)))
    operators: tuple[str, ...] = field(
        default=("add", "mul"),
        validator=[
            validators.deep_iterable(validators.in_(("add", "mul", "div"))),
            validators.min_len(1),
        ],
    )
    ranges: Mapping[str, tuple[float, float]] = field(factory=dict)
    weights: dict[str, float] = field(
        factory=dict,
        validator=validators.deep_mapping(
            validators.instance_of(str), validators.ge(0), validators.max_len(2)
        ),
    )
    by_rule: dict[Literal["a", "b"], int] = field(factory=dict)
    span: Span | None = None
    spans: list[Span] = field(factory=list)
    name: str = field(default="a", validator=validators.matches_re("[a-z]+"))
    rule: Rule = Rule.FIRST
    length: Metre = Metre(1.0)
    noted: Annotated[int, "unit"] = 0
    tags: frozenset[str] = frozenset()
    values: Sequence[int] = ()
    free: Any = None
    either: int | str = 0
    _hidden: int = 3


SCHEMA = request_schema(Everything)

GOOD: list[dict[str, Any]] = [
    {},
    {"switch": True, "count": 1, "share": 1, "loss": "mae", "level": 3},
    {"maybe": None},
    {"maybe": 5},
    {"operators": ["div"], "ranges": {"x": [0, 1.5]}, "weights": {"x": 0}},
    {"by_rule": {"a": 1}, "span": {"low": 0}, "spans": [{"low": 0, "high": 2}, {"low": 1}]},
    {"name": "abc", "rule": "last", "length": 2, "noted": 1, "tags": ["a", "b"], "values": [1]},
    {"free": {"any": [1, None, "x"]}, "either": "text", "hidden": 4},
]
BAD: list[tuple[dict[str, Any], str]] = [
    ({"switch": 1}, "switch: expected true or false, found 1"),
    ({"count": True}, "count: expected an integer, found True"),
    ({"count": 3.0}, "count: expected an integer, found 3.0"),
    ({"count": 0}, "count: expected >= 1, found 0"),
    ({"count": 100}, "count: expected < 100, found 100"),
    ({"share": float("nan")}, "share: expected a finite number, found nan"),
    ({"share": "0.5"}, "share: expected a finite number, found '0.5'"),
    ({"loss": "mze"}, "loss: expected one of mse, mae, found 'mze'. Did you mean 'mse'?"),
    ({"level": True}, "level: expected one of 1, 2, 3, found True"),
    ({"maybe": 6}, "maybe: expected <= 5, found 6"),
    ({"maybe": "x"}, "maybe: expected a finite number or null, found 'x'"),
    ({"operators": []}, "operators: expected at least 1 items, found 0"),
    ({"operators": ["add", "sub"]}, "operators[1]: expected one of add, mul, div, found 'sub'"),
    ({"operators": "add"}, "operators: expected a list, found 'add'"),
    ({"ranges": {"x": [1]}}, "ranges.x: expected at least 2 items, found 1"),
    ({"ranges": {"x": [1, 2, 3]}}, "ranges.x: expected at most 2 items, found 3"),
    ({"ranges": {"x": [1, None]}}, "ranges.x[1]: expected a finite number, found None"),
    ({"weights": {"x": -1}}, "weights.x: expected >= 0, found -1"),
    ({"weights": {"x": 1, "y": 1, "z": 1}}, "weights: expected at most 2 entries, found 3"),
    ({"by_rule": {"c": 1}}, "by_rule.c: expected one of a, b, found 'c'"),
    ({"span": {}}, "span.low: expected a finite number, found nothing"),
    ({"spans": [{"low": 0, "hi": 2}]}, "spans[0].hi: found no such field. Did you mean 'high'?"),
    ({"name": "A"}, "name: expected a text that matches ^(?:[a-z]+)$, found 'A'"),
    ({"rule": "middle"}, "rule: expected one of first, last, found 'middle'"),
    ({"tags": ["a", "a"]}, "tags: expected each item once, found ['a', 'a']"),
    ({"free": float("inf")}, "free: expected a JSON value, found inf"),
    ({"lossy": 1}, "lossy: found no such field. Did you mean 'loss'?"),
    ({"seed": "x"}, "seed: expected an integer, found 'x'"),
    ({"workers": 0}, "workers: expected >= 1, found 0"),
    ({"time_limit": 0}, "time_limit: expected > 0, found 0"),
]


def test_the_schema_is_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    assert SCHEMA["properties"]["share"] == {
        "type": "number",
        "exclusiveMinimum": 0,
        "default": 0.5,
        "description": "a share",
    }
    assert SCHEMA["properties"]["rule"]["default"] == "first"
    assert schema_fault(SCHEMA) == ""


@pytest.mark.parametrize("values", GOOD, ids=str)
def test_a_good_request_passes_and_builds(values: dict[str, Any]) -> None:
    assert check_request(SCHEMA, values) == []
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(values)
    assert isinstance(build_request(Everything, values), Everything)


@pytest.mark.parametrize(("values", "said"), BAD, ids=[said for _, said in BAD])
def test_a_bad_request_is_told_with_its_place(values: dict[str, Any], said: str) -> None:
    assert [str(problem) for problem in check_request(SCHEMA, values)] == [said]
    with pytest.raises(RequestError):
        build_request(Everything, values)


def test_all_problems_come_at_once() -> None:
    values = {"count": 0, "loss": "mze", "span": {"high": "x"}, "nothing": 1}

    assert len(check_request(SCHEMA, values)) == 5


def test_values_arrive_in_the_declared_types() -> None:
    made = build_request(
        Everything,
        {
            "share": 1,
            "ranges": {"x": [0, 1]},
            "span": {"low": 0},
            "spans": [{"low": 1}],
            "rule": "last",
            "tags": ["b", "a"],
            "operators": ["div"],
            "values": [1, 2],
            "either": "text",
            "hidden": 9,
            "seed": 5,
        },
    )

    assert type(made.share) is float
    assert made.ranges == {"x": (0.0, 1.0)}
    assert made.span == Span(0.0)
    assert made.spans == [Span(1.0)]
    assert made.rule is Rule.LAST
    assert made.tags == frozenset({"a", "b"})
    assert (made.operators, made.values) == (("div",), (1, 2))
    assert (made.either, made._hidden) == ("text", 9)


def test_defaults_are_filled_in_nested_places_too() -> None:
    filled = apply_defaults(SCHEMA, {"span": {"low": 0}, "spans": [{"low": 1}]})

    assert filled["span"] == {"low": 0, "high": 1.0}
    assert filled["spans"] == [{"low": 1, "high": 1.0}]
    assert filled["operators"] == ["add", "mul"]
    assert build_request(Everything, filled) == build_request(
        Everything, {"span": {"low": 0}, "spans": [{"low": 1}]}
    )


def test_a_field_without_default_is_required() -> None:
    assert request_schema(Span)["required"] == ["low"]


def test_common_fields_are_told_apart() -> None:
    own, common = split_common(request_schema(Span), {"low": 1, "seed": 2, "workers": 3})

    assert (own, common) == ({"low": 1}, {"seed": 2, "workers": 3})


def test_a_declared_common_field_is_in_both() -> None:
    @frozen
    class Declared:
        time_limit: float | None = None

    own, common = split_common(request_schema(Declared), {"time_limit": 3})

    assert own == common == {"time_limit": 3}


def test_a_default_that_depends_on_others_is_left_to_the_class() -> None:
    @frozen
    class Dependent:
        low: float = 0.0
        high: float = field(default=Factory(lambda self: self.low + 1, takes_self=True))

    assert "default" not in request_schema(Dependent)["properties"]["high"]
    assert build_request(Dependent, {"low": 2}).high == 3.0


@frozen
class Holder:
    other: complex = 0j


@frozen
class Unwritable:
    default: Any = field(factory=object)


@pytest.mark.parametrize("request_class", [int, Holder, Unwritable])
def test_what_has_no_json_form_is_refused(request_class: type) -> None:
    with pytest.raises(PluginError):
        request_schema(request_class)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*SCHEMA["properties"], "low", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "other"]), JSON, max_size=4))
def test_we_accept_nothing_that_json_schema_refuses(values: dict[str, Any]) -> None:
    accepted = not check_request(SCHEMA, values)

    if accepted:
        assert jsonschema.Draft202012Validator(SCHEMA).is_valid(values)
        build_request(Everything, values)
        assert check_request(SCHEMA, apply_defaults(SCHEMA, values)) == []


KEYWORDS = st.sampled_from(
    [
        "type",
        "anyOf",
        "enum",
        "properties",
        "required",
        "items",
        "prefixItems",
        "additionalProperties",
        "propertyNames",
        "minimum",
        "maxLength",
        "minItems",
        "pattern",
        "default",
        "uniqueItems",
        "description",
        "other",
    ]
)
PARTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["string", "object", "array", "number", "integer", "(", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=4),
    max_leaves=12,
)


@given(PARTS, JSON)
def test_a_schema_that_passes_never_breaks_the_check(schema: Any, value: Any) -> None:
    wrapped = {"type": "object", "properties": {"x": schema}}

    if not schema_fault(wrapped):
        check_request(wrapped, {"x": value})
        apply_defaults(wrapped, {"x": value})
