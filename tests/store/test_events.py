"""The event log: durable, append-only, and every change of it is found."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.errors import IntegrityError, UsageError
from sciharness.store.chain import ChainError, hash_event, line_of, row_of, verify_rows
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.owners import Owner
from sciharness.store.runs import Runs

Tamper = Callable[[Home, str], None]

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SAFE = st.integers(-(2**53) + 1, 2**53 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | SAFE | FINITE | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
BODIES = st.lists(st.dictionaries(TEXT, JSON, max_size=3), min_size=1, max_size=6)


def test_events_come_back_as_they_were_given(log: EventLog) -> None:
    log.create("r1", [("RunCreated", {"goal": "µ ≤ 1"})], projection={"title": "Drift"})
    stored = log.append("r1", [("Progress", {"best": 0.1}), ("Note", {"tags": [None, True]})])

    read = list(log.read("r1", after=1))

    assert read == stored
    assert [(event.seq, event.kind) for event in read] == [(2, "Progress"), (3, "Note")]
    assert read[0].time == "2030-01-01T00:00:02.000000Z"
    assert read[1].body == {"tags": [None, True]}


def test_the_chain_is_the_documented_one(log: EventLog) -> None:
    # Written out once by hand, so that the format cannot drift unnoticed.
    from hashlib import sha256

    log.create("r1", [("RunCreated", {"b": 1.0, "a": "é"})], projection={})
    record = '{"body":{"a":"é","b":1},"kind":"RunCreated","time":"2030-01-01T00:00:01.000000Z"}'
    parts = [b"evt-v1", b"r1", (1).to_bytes(8, "big"), bytes(32), record.encode()]
    expected = sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts))

    assert log.verify("r1").hash == expected.hexdigest()


def test_a_body_that_is_no_json_stores_nothing(log: EventLog) -> None:
    log.create("r1", [("RunCreated", {})], projection={})

    with pytest.raises(ValueError, match=r".+"):
        log.append("r1", [("Good", {}), ("Bad", {"value": float("nan")})])

    assert log.verify("r1").count == 1


def test_a_run_is_created_once(log: EventLog) -> None:
    log.create("r1", [("RunCreated", {})], projection={})

    with pytest.raises(UsageError, match="exists"):
        log.create("r1", [("RunCreated", {})], projection={})


def test_a_run_that_is_not_there_gets_no_events(log: EventLog) -> None:
    with pytest.raises(UsageError, match="no such run"):
        log.append("r1", [("Progress", {})])
    with pytest.raises(UsageError, match="no such run"):
        log.verify("r1")


@pytest.mark.parametrize(
    "projection", [{"status": "done"}, {"colour": "red"}, {"delivery": "late"}]
)
def test_a_projection_with_unknown_words_is_refused(
    log: EventLog, projection: dict[str, str]
) -> None:
    log.create("r1", [("RunCreated", {})], projection={})

    with pytest.raises(ValueError, match="run"):
        log.append("r1", [("Progress", {})], projection=projection)


def test_an_owner_that_was_replaced_cannot_append(home: Home, log: EventLog) -> None:
    log.create("r1", [("RunCreated", {})], projection={})
    old = Owner("another host", 1, "1")
    Runs(home).claim("r1")

    with pytest.raises(UsageError, match="taken this run over"):
        log.append("r1", [("Progress", {})], owner=old)

    assert log.verify("r1").count == 1


def test_the_row_is_rebuilt_from_events_alone(home: Home, log: EventLog, tamper: Tamper) -> None:
    log.create("r1", [("RunCreated", {})], projection={"title": "Drift", "contract": "c" * 64})
    log.append("r1", [("Started", {})], projection={"status": "running"})
    log.append("r1", [("Ended", {})], projection={"status": "failed", "delivery": "succeeded"})
    before = Runs(home).get("r1")
    tamper(home, "UPDATE runs SET status = 'succeeded', title = '', count = 1, created = ''")

    log.rebuild("r1")

    assert Runs(home).get("r1") == before
    assert log.verify("r1").count == 3


def test_a_record_that_was_changed_is_named(home: Home, log: EventLog, tamper: Tamper) -> None:
    _three_events(log)
    tamper(
        home, "UPDATE events SET record = CAST(replace(record, 'two', 'owt') AS BLOB) WHERE seq = 2"
    )

    with pytest.raises(IntegrityError, match="event 2 was changed") as caught:
        log.verify("r1")

    assert caught.value.exit_code == 7


def test_a_last_event_that_was_dropped_is_named(home: Home, log: EventLog, tamper: Tamper) -> None:
    _three_events(log)
    tamper(home, "DELETE FROM events WHERE seq = 3")

    with pytest.raises(IntegrityError, match="event 3 is missing"):
        log.verify("r1")


def test_two_events_in_the_other_order_are_named(home: Home, log: EventLog, tamper: Tamper) -> None:
    _three_events(log)
    tamper(home, "UPDATE events SET seq = 9 - seq WHERE seq > 1; ")
    tamper(home, "UPDATE events SET seq = seq - 4 WHERE seq > 1")

    with pytest.raises(IntegrityError, match="event 2 was changed"):
        log.verify("r1")


def test_an_event_of_another_run_does_not_fit(home: Home, log: EventLog, tamper: Tamper) -> None:
    _three_events(log)
    log.create("r2", [("RunCreated", {})], projection={})
    tamper(
        home,
        "DELETE FROM events WHERE run_id = 'r2';"
        "INSERT INTO events SELECT 'r2', seq, record, hash FROM events WHERE seq = 1;"
        "UPDATE runs SET head = (SELECT hash FROM events WHERE run_id = 'r2') WHERE run_id = 'r2'",
    )

    with pytest.raises(IntegrityError, match="event 1"):
        log.verify("r2")


def test_a_long_log_is_read_in_pages_without_a_gap(log: EventLog) -> None:
    log.create("r1", [("RunCreated", {})], projection={})
    log.append("r1", [("Progress", {"number": number}) for number in range(2000)])

    numbers = [event.body["number"] for event in log.read("r1", after=1)]

    assert numbers == list(range(2000))


def test_a_reader_that_dawdles_does_not_hold_up_writers(log: EventLog) -> None:
    log.create("r1", [("RunCreated", {})], projection={})
    log.append("r1", [("Progress", {}) for _ in range(600)])
    events = log.read("r1")
    next(events)

    log.append("r1", [("Late", {})])

    assert [event.kind for event in events][-1] == "Late"


@settings(max_examples=40, deadline=None)
@given(bodies=BODIES, data=st.data())
def test_any_change_of_a_stored_event_is_found_and_named(
    bodies: list[dict[str, object]], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder, Home.open(Path(folder) / "home") as home:
        log = EventLog(home)
        log.create("r1", [("Event", body) for body in bodies], projection={})
        seq, sql, values = data.draw(_mutations(len(bodies), list(log.rows("r1"))))
        _execute(home, sql, values)

        with pytest.raises(IntegrityError, match=f"^run r1: event {seq} "):
            log.verify("r1")


@given(bodies=BODIES)
def test_a_line_of_the_export_gives_the_exact_bytes_back(bodies: list[dict[str, object]]) -> None:
    rows = _rows(bodies)

    lines = [line_of(row) for row in rows]

    assert [row_of(line) for line in lines] == rows
    assert all(line.count(b"\n") == 1 for line in lines)


@given(bodies=BODIES, data=st.data())
def test_any_other_bytes_in_a_line_are_found(
    bodies: list[dict[str, object]], data: st.DataObject
) -> None:
    line = line_of(_rows(bodies)[0])
    place = data.draw(st.integers(0, len(line) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != line[place]))
    changed = line[:place] + bytes([byte]) + line[place + 1 :]

    with pytest.raises((ValueError, ChainError)):
        verify_rows("r1", [row_of(changed)])


def _three_events(log: EventLog) -> None:
    log.create("r1", [("RunCreated", {})], projection={})
    log.append("r1", [("Note", {"text": "two"}), ("Note", {"text": "three"})])


def _rows(bodies: list[dict[str, object]]) -> list[tuple[int, bytes, bytes]]:
    from sciharness.store.chain import GENESIS, encode_record

    rows, before = [], GENESIS
    for seq, body in enumerate(bodies, start=1):
        record = encode_record("Event", "2030-01-01T00:00:00.000000Z", body)
        before = hash_event("r1", seq, before, record)
        rows.append((seq, record, before))
    return rows


Mutation = tuple[int, str, tuple[object, ...]]


@st.composite
def _mutations(draw: st.DrawFn, count: int, rows: list[tuple[int, bytes, bytes]]) -> Mutation:
    seq = draw(st.integers(1, count))
    _, record, hash = rows[seq - 1]
    column, stored = draw(st.sampled_from([("record", record), ("hash", hash)]))
    other = draw(st.binary(min_size=1, max_size=60)).join([stored[:5], stored[5:]])
    changed = (seq, f"UPDATE events SET {column} = ? WHERE seq = ?", (other, seq))
    dropped = (seq, "DELETE FROM events WHERE seq = ?", (seq,))
    cut = (seq, "DELETE FROM events WHERE seq >= ?", (seq,))
    added = (count + 1, "INSERT INTO events VALUES ('r1', ?, ?, ?)", (count + 1, record, hash))
    moved = (seq, "UPDATE events SET seq = ? WHERE seq = ?", (count + 7, seq))
    return draw(st.sampled_from([changed, dropped, cut, added, moved]))


def _execute(home: Home, sql: str, values: tuple[object, ...]) -> None:
    with closing(sqlite3.connect(home.database)) as connection:
        connection.execute("DROP TRIGGER events_refuse_update")
        connection.execute("DROP TRIGGER events_refuse_delete")
        connection.execute(sql, values)
        connection.commit()
