"""An operation may declare any metric; what the runtime alone may say stays out of its reach."""

from __future__ import annotations

from typing import Any

import pytest

from sciharness.workers.failures import ActionFailed
from sciharness.workers.outcome import checked_metrics


def test_any_name_is_taken_where_any_is_declared() -> None:
    assert checked_metrics({"peak_hz": 7, "a.b:c-d": 1.5}, ("*",)) == {
        "peak_hz": 7.0,
        "a.b:c-d": 1.5,
    }


@pytest.mark.parametrize("name", ["task_completion", "", "*", "a b", "9a", "x" * 101, "a\n"])
def test_some_names_are_no_programs_to_give(name: str) -> None:
    with pytest.raises(ActionFailed, match="but not task_completion") as caught:
        checked_metrics({name: 1.0}, ("*",))
    assert caught.value.reason == "undeclared_metric"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "1", None, 10**400])
def test_what_is_no_finite_number_is_no_metric(value: Any) -> None:
    with pytest.raises(ActionFailed, match="finite numbers"):
        checked_metrics({"a": value}, ("*",))


def test_without_the_star_only_declared_names_are_taken() -> None:
    with pytest.raises(ActionFailed, match="b not declared"):
        checked_metrics({"b": 1.0}, ("a",))
