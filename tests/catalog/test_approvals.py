from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sciharness_catalog.approvals import (
    Approval,
    approval_text,
    approvals,
    distribution_of,
)
from sciharness_catalog.errors import IntegrityError

FIELDS: dict[str, Any] = {  # Any: JSON values
    "distribution": "one",
    "version": "1.0",
    "digest": "0" * 64,
    "trusted_metrics": False,
    "trusted_labels": False,
    "plugins": ["a.one"],
}


def test_only_the_evaluators_that_ship_with_us_are_trusted() -> None:
    shipped = approvals()

    assert {name for name, one in shipped.items() if one.trusted_metrics} == {
        "sciharness-evaluation"
    }
    assert {name for name, one in shipped.items() if one.trusted_labels} <= {"sciharness-xsuite"}
    assert distribution_of("evaluation", shipped) == "sciharness-evaluation"
    assert distribution_of("nobody", shipped) is None


def test_an_approval_reads_back_as_it_was_written(tmp_path: Path) -> None:
    approval = Approval("one", "1.0", "0" * 64, trusted_metrics=True, plugins=("a.one", "b"))
    (tmp_path / "one.json").write_text(approval_text(approval), "utf-8")

    assert approvals(tmp_path) == {"one": approval}


@pytest.mark.parametrize(
    "fields",
    [
        FIELDS | {"distribution": "other"},
        FIELDS | {"trusted_metrics": 1},
        FIELDS | {"digest": None},
        FIELDS | {"plugins": [1]},
        FIELDS | {"more": True},
        {},
        [],
    ],
    ids=["name", "flag", "digest", "plugins", "unknown key", "empty", "list"],
)
def test_a_file_that_is_no_approval_is_refused(tmp_path: Path, fields: object) -> None:
    (tmp_path / "one.json").write_text(json.dumps(fields))

    with pytest.raises(IntegrityError, match=r"approvals/one\.json"):
        approvals(tmp_path)
