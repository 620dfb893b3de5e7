from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sciharness_catalog import chain
from sciharness_catalog.chain import Head, append, check_head, create_tables, head
from sciharness_catalog.errors import IntegrityError


@pytest.fixture
def filled(conn: sqlite3.Connection) -> sqlite3.Connection:
    for body in (b"one", b"two", b"three"):
        append(conn, body)
    return conn


def tamper(conn: sqlite3.Connection, statement: str) -> None:
    conn.execute("DROP TRIGGER catalog_decisions_stay")
    conn.execute("DROP TRIGGER catalog_decisions_last")
    conn.execute(statement)


def test_rows_come_back_in_order_under_one_head(filled: sqlite3.Connection) -> None:
    bodies, heads = chain.read(filled)

    assert bodies == [b"one", b"two", b"three"]
    assert [one.count for one in heads] == [0, 1, 2, 3]
    assert head(filled) == heads[-1] == Head.parse(str(heads[-1]))


@pytest.mark.parametrize(
    "statement",
    ["UPDATE catalog_decisions SET body = x'00'", "DELETE FROM catalog_decisions"],
    ids=["update", "delete"],
)
def test_rows_are_neither_changed_nor_deleted(filled: sqlite3.Connection, statement: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        filled.execute(statement)


@pytest.mark.parametrize(
    ("statement", "row"),
    [
        ("UPDATE catalog_decisions SET body = x'00' WHERE seq = 1", 1),
        ("UPDATE catalog_decisions SET hash = upper(hash) WHERE seq = 2", 2),
        ("UPDATE catalog_decisions SET seq = 9 WHERE seq = 3", 3),
        ("DELETE FROM catalog_decisions WHERE seq = 2", 2),
        ("DELETE FROM catalog_decisions WHERE seq = 1", 1),
    ],
)
def test_a_broken_chain_is_named_by_its_first_bad_row(
    filled: sqlite3.Connection, statement: str, row: int
) -> None:
    recorded = head(filled)
    tamper(filled, statement)

    for look in (head, lambda conn: check_head(conn, recorded), lambda conn: append(conn, b"x")):
        with pytest.raises(IntegrityError, match=f"decision {row} is missing or was altered"):
            look(filled)


def test_a_database_put_back_to_an_older_state_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "harness.db"
    conn = sqlite3.connect(path, isolation_level=None)
    create_tables(conn)
    append(conn, b"admit")
    shutil.copy(path, tmp_path / "older.db")
    append(conn, b"revoke")
    recorded = Head.parse(str(head(conn)))
    conn.close()

    shutil.copy(tmp_path / "older.db", path)
    restored = sqlite3.connect(path)

    assert head(restored).count == 1  # by itself the older database looks sound
    with pytest.raises(IntegrityError, match="holds 1 decisions where 2 were recorded"):
        check_head(restored, recorded)
    restored.close()


def test_a_cut_tail_is_noticed(filled: sqlite3.Connection) -> None:
    recorded = head(filled)
    tamper(filled, "DELETE FROM catalog_decisions WHERE seq = 3")

    assert head(filled).count == 2
    with pytest.raises(IntegrityError, match="older state"):
        check_head(filled, recorded)


def test_another_history_of_equal_length_is_noticed(filled: sqlite3.Connection) -> None:
    recorded = head(filled)
    tamper(filled, "DELETE FROM catalog_decisions")
    for body in (b"one", b"two", b"other"):
        append(filled, body)

    with pytest.raises(IntegrityError, match="decision 3 is not the one that was recorded"):
        check_head(filled, recorded)


def test_rows_beyond_the_recorded_head_are_what_a_crash_leaves(filled: sqlite3.Connection) -> None:
    recorded = head(filled)
    newer = append(filled, b"four")

    assert check_head(filled, recorded) == newer
    assert check_head(filled, Head()) == newer


@pytest.mark.parametrize("text", ["", "1", "01 " + "0" * 64, "1 " + "0" * 63, "-1 " + "0" * 64])
def test_a_head_file_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(IntegrityError, match="expected `COUNT HASH`"):
        Head.parse(text)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=8), max_size=5), st.lists(st.binary(max_size=8), max_size=5))
def test_different_histories_have_different_heads(one: list[bytes], other: list[bytes]) -> None:
    assert (head_of(one) == head_of(other)) == (one == other)


def head_of(bodies: list[bytes]) -> Head:
    conn = sqlite3.connect(":memory:")
    create_tables(conn)
    for body in bodies:
        append(conn, body)
    return head(conn)
