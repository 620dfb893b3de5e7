from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciharness_catalog.canonical import Json, canonical_json

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_the_example_of_rfc_8785_gives_its_bytes() -> None:
    value: Json = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": '\u20ac$\u000f\nA\'B"\\\\"/',
        "literals": [None, True, False],
    }

    assert canonical_json(value) == (
        b'{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        b'"string":"\xe2\x82\xac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_keys_are_sorted_by_utf_16_units() -> None:
    # U+1F600 is D83D DE00 in UTF-16 and so comes before U+FB33, although its code point is higher.
    assert canonical_json({"\ufb33": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ufb33":1}'.encode()


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), 2**53 + 1, "\ud800", {1: "number as key"}, {1, 2}, b"bytes"],
    ids=["nan", "inf", "2^53 + 1", "surrogate", "key", "set", "bytes"],
)
def test_what_json_cannot_say_exactly_is_refused(value: Json) -> None:
    with pytest.raises(ValueError):
        canonical_json(value)


@given(JSON)
def test_what_was_read_back_is_written_the_same_way(value: Json) -> None:
    data = canonical_json(value)

    assert canonical_json(json.loads(data)) == data
