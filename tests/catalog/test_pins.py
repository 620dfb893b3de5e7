from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciharness_catalog.errors import IntegrityError
from sciharness_catalog.pins import Pin

DIGEST = "0123456789abcdef" * 4


@given(
    st.from_regex(r"[a-z]{1,5}([._][a-z0-9]{1,4}){0,3}", fullmatch=True),
    st.from_regex(r"[0-9]\.[0-9]{1,2}(rc1|\.post2|\+local)?", fullmatch=True),
    st.from_regex(r"[a-z]{1,5}(_[a-z0-9]{1,4}){0,3}", fullmatch=True),
)
def test_a_pin_reads_back_what_it_wrote(plugin_id: str, version: str, operation: str) -> None:
    pin = Pin(plugin_id, version, operation, DIGEST)

    assert Pin.parse(str(pin)) == pin
    assert pin.capability == f"{plugin_id}.{operation}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"evaluation 0.1.0 regression {DIGEST[:-1]}",
        f"evaluation 0.1.0 regression {DIGEST.upper()}",
        f"Evaluation 0.1.0 regression {DIGEST}",
        f"evaluation  0.1.0 regression {DIGEST}",
        f"evaluation 0.1.0 {DIGEST}",
        f"evaluation 0.1.0 regression {DIGEST}\n",
        f"beam..xsuite 0.1.0 track {DIGEST}",
    ],
)
def test_what_is_not_exactly_a_pin_is_refused(text: str) -> None:
    with pytest.raises(IntegrityError, match="expected a pin"):
        Pin.parse(text)
