"""A plugin that lies fails alone, with a reason that says how."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sciharness.workers.child import Limits
from sciharness.workers.pool import ActionFailed, JobResult, Produced, Workers

Act = Callable[..., JobResult]


def reason_of(act: Act, name: str, **options: object) -> str:
    with pytest.raises(ActionFailed) as caught:
        act(name, **options)
    assert act("tiny.add", {"terms": [1]}).metrics == {"total": 1.0}  # others are not affected
    return caught.value.reason


@pytest.mark.parametrize("how", ["nan", "infinite", "true", "text", "none", "huge"])
def test_a_metric_is_a_finite_float(act: Act, how: str) -> None:
    assert reason_of(act, "liar.metric", request={"how": how}) == "bad_metric"


def test_every_bad_metric_is_named(act: Act) -> None:
    with pytest.raises(ActionFailed) as caught:
        act("liar.metric", {"how": "all"})

    for said in ("nan is nan", "infinite is inf", "true is True", "text is '0.99'", "none is None"):
        assert said in caught.value.message


def test_an_undeclared_metric_fails(act: Act) -> None:
    assert reason_of(act, "liar.metric", request={"how": "undeclared"}) == "undeclared_metric"


@pytest.mark.parametrize("how", ["link", "hard link", "folder", "fifo"])
def test_an_artifact_is_a_regular_file(act: Act, home: Path, how: str) -> None:
    request = {"how": how, "text": str(home / "vault" / "labels.csv")}

    assert reason_of(act, "liar.artifact", request=request) in ("bad_artifact", "missing_result")


def test_the_folder_of_artifacts_is_no_link(act: Act, home: Path) -> None:
    (home / "vault" / "made.txt").write_text("SECRET-LABEL", "utf-8")
    request = {"how": "folder of outputs is a link", "text": str(home / "vault")}

    assert reason_of(act, "liar.artifact", request=request) in ("bad_artifact", "missing_result")
    assert (home / "vault" / "made.txt").exists()


def test_the_kernel_follows_no_link_into_another_folder(act: Act, tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "made.txt").write_text("of another action", "utf-8")
    request = {"how": "its folder is a link", "text": str(tmp_path)}

    assert reason_of(act, "liar.artifact", request=request) in ("bad_artifact", "missing_result")
    assert (tmp_path / "outputs" / "made.txt").exists()


def test_an_artifact_outside_its_folder_fails(act: Act, home: Path) -> None:
    assert reason_of(act, "liar.protocol", request={"how": "outside"}, fresh=True) == "bad_artifact"
    assert not list(home.rglob("escaped"))


def test_an_artifact_that_was_asked_for_has_to_be_there(act: Act) -> None:
    assert reason_of(act, "liar.artifact", request={"how": "nothing"}) == "missing_result"
    assert reason_of(act, "liar.declared_only", request={}) == "missing_result"


def test_an_artifact_has_its_declared_type(act: Act) -> None:
    assert reason_of(act, "liar.wrong_type", request={}) == "bad_artifact"


@pytest.mark.usefixtures("confined")
def test_a_file_is_out_of_reach_when_it_is_checked(act: Act, home: Path) -> None:
    request = {"how": "swapped after the check", "text": str(home / "vault" / "labels.csv")}
    taken: list[Produced] = []
    for attempt in range(8):
        with contextlib.suppress(ActionFailed):
            taken += act("liar.artifact", request, workspace=str(attempt)).artifacts
    time.sleep(0.01)

    assert not [made for made in taken if made.path.is_symlink()]


@pytest.mark.parametrize("how", ["none", "dictionary", "notes", "metrics"])
def test_an_operation_returns_an_outcome(act: Act, how: str) -> None:
    assert reason_of(act, "liar.answer", request={"how": how}) == "nonsense"


def test_notes_cannot_drive_a_terminal_or_break_an_encoding(act: Act) -> None:
    notes = act("liar.answer", {"how": "unsafe"}).notes

    assert notes == ("red \ufffd[31m", "half \ufffd", "turned \ufffd")


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("no JSON", "nonsense"),
        ("NaN", "nonsense"),
        ("too large", "nonsense"),
        ("deep", "nonsense"),
        ("event", "nonsense"),
        ("another answer", "nonsense"),
        ("text metric", "bad_metric"),
        ("true metric", "bad_metric"),
        ("undeclared", "undeclared_metric"),
        ("1 GB line", "output_limit"),
        ("endless events", "output_limit"),
    ],
)
def test_the_kernel_believes_nothing_it_reads(act: Act, how: str, reason: str) -> None:
    assert reason_of(act, "liar.protocol", request={"how": how}, fresh=True) == reason


@pytest.mark.parametrize("how", ["unknown", "negative", "nan"])
def test_only_known_amounts_are_charged(act: Act, how: str) -> None:
    assert reason_of(act, "liar.charge", request={"how": how}) in ("nonsense", "error")


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("segfault", "crash"),
        ("exit", "crash"),
        ("kill", "memory"),
        ("abort", "memory"),
        ("SystemExit", "error"),
        ("error", "error"),
        ("memory", "memory"),
    ],
)
def test_an_end_is_told_by_its_kind(act: Act, how: str, reason: str) -> None:
    assert reason_of(act, "liar.end", request={"how": how}) == reason


def test_an_error_comes_with_its_traceback(act: Act) -> None:
    with pytest.raises(ActionFailed, match="RuntimeError: the solver diverged") as caught:
        act("liar.end", {"how": "error"})

    assert 'raise RuntimeError("the solver diverged")' in caught.value.detail


@pytest.mark.parametrize(
    ("how", "reason"), [("endless output", "output_limit"), ("big file", "file_limit")]
)
def test_output_and_files_are_bounded(act: Act, tmp_path: Path, how: str, reason: str) -> None:
    limits = Limits(output_bytes=1 << 20, file_bytes=1 << 22)

    with Workers(tmp_path, limits=limits) as workers:
        assert reason_of(act, "liar.end", request={"how": how}, workers=workers) == reason


@pytest.mark.parametrize("how", ["sleep", "busy"])
def test_a_limit_ends_what_does_not_listen(act: Act, how: str) -> None:
    started = time.monotonic()

    with pytest.raises(ActionFailed) as caught:
        act("liar.end", {"how": how}, wall_limit=1.0)

    assert caught.value.reason == "timeout"
    assert time.monotonic() - started < 1.0 + 2.0 + 1.0  # limit, grace, a slow start


def test_a_failed_action_still_tells_its_usage(act: Act) -> None:
    with pytest.raises(ActionFailed) as caught:
        act("liar.end", {"how": "busy"}, wall_limit=1.5)

    assert caught.value.usage == {"solver_calls": 5.0}
    assert caught.value.cpu_seconds > 0.2


def test_a_grandchild_in_its_own_session_ends_too(act: Act, tmp_path: Path, home: Path) -> None:
    with pytest.raises(ActionFailed) as caught:
        act("liar.end", {"how": "grandchild", "text": "canary"}, wall_limit=0.7)
    time.sleep(2.0)  # the canary would have been written after 1.5 s

    assert caught.value.reason == "timeout"
    assert not list(home.rglob("canary"))


def test_a_validator_of_the_class_is_a_request_failure(act: Act) -> None:
    with pytest.raises(ActionFailed, match="count has to be odd") as caught:
        act("liar.own", {"count": 2})

    assert caught.value.reason == "request"
