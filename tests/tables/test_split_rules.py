from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from sciharness.contract.records import Holdout
from sciharness.errors import DataError
from sciharness.tables import Prepared
from sciharness.tables.split import share_of

Write = Callable[..., Path]
Prepare = Callable[..., Prepared]


def column(path: Path | None, name: str) -> list[str]:
    assert path is not None
    with path.open(newline="", encoding="utf-8") as file:
        return [row[name] for row in csv.DictReader(file)]


def named(rows: int, **columns: Callable[[int], object]) -> str:
    head = ",".join(["sample_id", *columns])
    body = (f"r{i}," + ",".join(str(value(i)) for value in columns.values()) for i in range(rows))
    return "\n".join([head, *body]) + "\n"


@pytest.mark.parametrize(
    ("share", "count", "rows"),
    [(0.2, 100, 20), (0.2, 27, 5), (0.2, 28, 6), (0.15, 10, 2), (0.25, 30, 8), (0.1, 95, 10)],
)
def test_shares_round_half_up_as_the_decimal_is_written(
    share: float, count: int, rows: int
) -> None:
    assert share_of(share, count) == rows


def test_the_draw_is_the_same_everywhere(table: Write, prepare: Prepare) -> None:
    source = table(named(40, x=lambda i: i, y=lambda i: i * i))

    prepared = prepare(source, Holdout(seed=7))

    # Derived apart from the code: SplitMix64 of first row and seed, the 8 lowest win.
    assert column(prepared.final_inputs, "sample_id") == [
        f"r{i}" for i in (3, 8, 13, 14, 20, 21, 28, 33)
    ]


def test_another_seed_draws_other_rows(table: Write, prepare: Prepare) -> None:
    source = table(named(40, x=lambda i: i, y=lambda i: i * i))

    draws = [tuple(column(prepare(source, Holdout(seed=s)).final_inputs, "x")) for s in range(5)]

    assert len(set(draws)) == 5


def test_verification_rows_are_a_share_of_all_rows(table: Write, prepare: Prepare) -> None:
    source = table(named(50, x=lambda i: i, y=lambda i: i * i))

    prepared = prepare(source, Holdout(fraction=0.2, verification=0.3))

    parts = [
        column(getattr(prepared, part), "sample_id")
        for part in ("train", "verification", "final_inputs")
    ]
    assert [len(part) for part in parts] == [25, 15, 10]
    assert sorted(name for part in parts for name in part) == sorted(f"r{i}" for i in range(50))


@pytest.mark.parametrize("seed", range(6))
def test_equal_rows_stay_on_one_side(table: Write, prepare: Prepare, seed: int) -> None:
    spellings = ["{}", "{}.0", "+{}", "{}e0", " {} "]
    source = table(
        named(
            120,
            x=lambda i: spellings[i % 5].format(i % 24),
            w=lambda i: i + 1,
            y=lambda i: spellings[(i * 3) % 5].format(2 * (i % 24)),
        )
    )

    prepared = prepare(source, Holdout(seed=seed, verification=0.1), weights="w")

    sides = {
        part: {int(name[1:]) % 24 for name in column(getattr(prepared, part), "sample_id")}
        for part in ("train", "verification", "final_inputs")
    }
    assert prepared.rows_final >= 20
    assert not sides["train"] & sides["final_inputs"]
    assert not sides["verification"] & sides["final_inputs"]
    assert not sides["train"] & sides["verification"]


def test_plus_and_minus_zero_are_equal(table: Write, prepare: Prepare) -> None:
    zeros = ["0", "-0.0", "+0e5", "-.0"]
    source = table(named(40, x=lambda i: zeros[i] if i < 4 else i, y=lambda i: i // 4))

    drawn = [
        sum(int(name[1:]) < 4 for name in column(prepared.final_inputs, "sample_id"))
        for prepared in (prepare(source, Holdout(seed=seed)) for seed in range(12))
    ]

    assert set(drawn) == {0, 4}


def test_groups_stay_whole(table: Write, prepare: Prepare) -> None:
    source = table(named(90, x=lambda i: i, site=lambda i: f"site {i % 10}", y=lambda i: i * i))

    prepared = prepare(source, Holdout(mode="group", group="site", verification=0.1))

    sites = {
        part: {int(name[1:]) % 10 for name in column(getattr(prepared, part), "sample_id")}
        for part in ("train", "verification", "final_inputs")
    }
    assert [len(group) for group in sites.values()] == [7, 1, 2]
    assert set.union(*sites.values()) == set(range(10))
    assert prepared.table.group == "site"
    assert prepared.table.features == ("x",)


def test_at_least_one_group_is_final(table: Write, prepare: Prepare) -> None:
    source = table(named(60, x=lambda i: i, site=lambda i: "ab"[i % 2], y=lambda i: i * i))

    prepared = prepare(source, Holdout(mode="group", group="site"))

    assert (prepared.rows_train, prepared.rows_final) == (30, 30)


def test_groups_that_share_equal_rows_are_drawn_together(table: Write, prepare: Prepare) -> None:
    source = table(
        named(
            100,
            x=lambda i: 0 if i in (0, 1, 12) else i,
            site=lambda i: f"s{i % 10}",
            y=lambda i: 0 if i in (0, 1, 12) else i * i,
        )
    )

    sides = []
    for seed in range(5, 13):
        prepared = prepare(source, Holdout(mode="group", group="site", fraction=0.5, seed=seed))
        final = {int(name[1:]) for name in column(prepared.final_inputs, "sample_id")}
        sides.append({(row in final) for row in (0, 1, 12)})

    assert all(len(side) == 1 for side in sides)
    assert {True} in sides


def test_one_group_cannot_be_split(table: Write, prepare: Prepare) -> None:
    source = table(named(60, x=lambda i: i, site=lambda i: "a", y=lambda i: i * i))

    with pytest.raises(DataError, match="0 visible rows of 60"):
        prepare(source, Holdout(mode="group", group="site"))


def test_the_last_rows_are_final_and_those_before_verification(
    table: Write, prepare: Prepare
) -> None:
    source = table(named(40, x=lambda i: i, y=lambda i: i * i))

    prepared = prepare(source, Holdout(mode="order", verification=0.25))

    assert column(prepared.final_inputs, "sample_id") == [f"r{i}" for i in range(32, 40)]
    assert column(prepared.verification, "sample_id") == [f"r{i}" for i in range(22, 32)]


def test_a_late_row_that_equals_a_visible_one_stays_visible(table: Write, prepare: Prepare) -> None:
    source = table(named(40, x=lambda i: 3 if i == 35 else i, y=lambda i: 9 if i == 35 else i * i))

    prepared = prepare(source, Holdout(mode="order"))

    assert column(prepared.final_inputs, "sample_id") == [
        "r32",
        "r33",
        "r34",
        "r36",
        "r37",
        "r38",
        "r39",
    ]


def test_without_a_holdout_all_rows_are_visible(table: Write, prepare: Prepare) -> None:
    prepared = prepare(table(named(4, x=lambda i: i, y=lambda i: i * i)), Holdout(mode="none"))

    assert prepared.rows_train == 4
    assert prepared.final_inputs is None
    assert prepared.labels is None


@pytest.mark.parametrize("seed", range(6))
def test_each_class_gives_its_share(table: Write, prepare: Prepare, seed: int) -> None:
    source = table(named(80, x=lambda i: i, y=lambda i: "rare" if i % 16 == 0 else "common"))

    prepared = prepare(source, Holdout(seed=seed), task="classification")

    labels = column(prepared.labels, "y")
    assert len(labels) == 16
    assert labels.count("rare") == 1


def test_each_class_keeps_a_visible_row(table: Write, prepare: Prepare) -> None:
    source = table(named(41, x=lambda i: i, y=lambda i: "abc"[min(i, 2)]))

    prepared = prepare(source, Holdout(fraction=0.5), task="classification")

    assert prepared.table.classes == ("a", "b", "c")


@pytest.mark.parametrize(
    ("holdout", "text"),
    [
        (Holdout(), "fraction 0.2, seed 0"),
        (Holdout(mode="group", group="s"), "fraction 0.2 of the groups of 's', seed 0"),
        (Holdout(mode="order", verification=0.1), "the last 0.2 of the rows, verification 0.1"),
        (Holdout(mode="none"), "none"),
    ],
    ids=["fraction", "group", "order", "none"],
)
def test_the_rule_is_told_in_words(
    table: Write, prepare: Prepare, holdout: Holdout, text: str
) -> None:
    source = table(named(60, x=lambda i: i, s=lambda i: i % 10, y=lambda i: i * i))

    assert prepare(source, holdout).split == text


def test_the_target_is_the_last_column_that_is_not_sample_id(
    table: Write, prepare: Prepare
) -> None:
    source = table("a,b,sample_id\n" + "".join(f"{i},{2 * i},n{i}\n" for i in range(30)))

    prepared = prepare(source)

    assert prepared.target == "b"
    assert prepared.reason == "the last column that is not sample_id"
    assert prepare(source, target="a").reason == "named in the contract"
