from __future__ import annotations

import os
from pathlib import Path

import pytest
from attrs import evolve

from sciharness.contract.document import parse_document
from sciharness.contract.lock import (
    Lock,
    check_lock,
    contract_digest,
    lock_path,
    read_lock,
    update_lock,
    write_lock,
)
from sciharness.errors import ContractError, IntegrityError

LOCK = Lock(
    contract="a" * 64,
    inputs={"data": "b" * 64},
    pins={
        "evaluation.regression": "evaluation 0.1.0 regression " + "c" * 64,
        "reasoner": "recipe 0.1.0 next_step " + "d" * 64,
    },
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return lock_path(tmp_path / "contract.yaml")


def test_a_lock_comes_back_as_it_was_written(path: Path) -> None:
    write_lock(path, LOCK)

    assert path.name == "contract.lock"
    assert read_lock(path) == LOCK
    check_lock(path, LOCK)
    assert os.listdir(path.parent) == ["contract.lock"]


def test_there_is_no_lock_before_the_first_run(path: Path) -> None:
    assert read_lock(path) is None
    check_lock(path, LOCK)


def test_writing_the_same_lock_again_changes_nothing(path: Path) -> None:
    write_lock(path, LOCK)
    before = path.stat().st_mtime_ns

    write_lock(path, LOCK)

    assert path.stat().st_mtime_ns == before


def test_a_different_lock_is_not_overwritten(path: Path) -> None:
    write_lock(path, LOCK)

    with pytest.raises(IntegrityError):
        write_lock(path, evolve(LOCK, contract="e" * 64))

    assert read_lock(path) == LOCK


def test_an_update_takes_the_change_over(path: Path) -> None:
    write_lock(path, LOCK)
    changed = evolve(LOCK, contract="e" * 64)

    update_lock(path, changed)

    assert read_lock(path) == changed


@pytest.mark.parametrize(
    ("changed", "named", "follows"),
    [
        (evolve(LOCK, contract="e" * 64), "contract", "a new run starts"),
        (evolve(LOCK, inputs={"data": "e" * 64}), "inputs.data", "split anew"),
        (evolve(LOCK, inputs={}), "inputs.data", "split anew"),
        (
            evolve(
                LOCK,
                pins={
                    **LOCK.pins,
                    "evaluation.regression": "evaluation 0.1.0 regression " + "e" * 64,
                },
            ),
            'pins["evaluation.regression"]',
            "not comparable",
        ),
        (evolve(LOCK, pins={**LOCK.pins, "new": "new 1 x " + "0" * 64}), "pins.new", "lock"),
    ],
)
def test_drift_names_what_changed_and_what_follows(
    path: Path, changed: Lock, named: str, follows: str
) -> None:
    write_lock(path, LOCK)

    with pytest.raises(IntegrityError) as caught:
        check_lock(path, changed)

    assert caught.value.exit_code == 7
    assert [problem.path for problem in caught.value.problems] == [named]
    assert follows in caught.value.problems[0].hint
    assert "harness lock CONTRACT --update" in caught.value.hint


@pytest.mark.parametrize("text", ["", "{}", '{"schema": "contract-lock-v1"}', "[", '{"a": 1}'])
def test_a_file_that_is_no_lock_is_refused(path: Path, text: str) -> None:
    path.write_text(text)

    with pytest.raises(ContractError) as caught:
        check_lock(path, LOCK)

    assert caught.value.exit_code == 3


def test_a_lock_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="cannot be written"):
        write_lock(tmp_path / "gone" / "contract.lock", LOCK)


def test_layout_and_comments_do_not_count_for_the_digest() -> None:
    one = parse_document("a: 1\nb: [x, 2.0]\n")
    other = parse_document('# note\n{"b": ["x", 2], "a": 1}')

    assert contract_digest(one) == contract_digest(other)
    assert contract_digest(one) != contract_digest(parse_document("a: 2\nb: [x, 2.0]\n"))
