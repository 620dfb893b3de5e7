"""The ledger: how often sealed labels were looked at, over all runs of a home."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sciharness.errors import IntegrityError
from sciharness.store.home import Home
from sciharness.store.ledger import Ledger, LedgerKey, predictor_digest

KEY = LedgerKey("ab" * 32, "period")
RESULT = {"metrics": {"relative_rmse": 0.0125}, "rows": 40}


def test_an_identical_predictor_replays_its_result_in_another_run(home: Home) -> None:
    ledger = Ledger(home)
    look = ledger.spend(KEY, "p1", run_id="r1", split="fraction 0.2 seed 0")
    ledger.settle(look, RESULT, "judge-1")

    again = ledger.spend(KEY, "p1", run_id="r2", split="fraction 0.2 seed 0")

    assert again == look
    assert ledger.replay(KEY, "p1", "judge-1") == (look, RESULT)
    assert len(ledger.looks(KEY)) == 1


def test_another_predictor_is_refused_naming_the_earlier_run(home: Home) -> None:
    ledger = Ledger(home)
    ledger.spend(KEY, "p1", run_id="00001-aaaaaa", split="fraction 0.2")

    with pytest.raises(IntegrityError, match="00001-aaaaaa") as caught:
        ledger.spend(KEY, "p2", run_id="00002-bbbbbb", split="fraction 0.2")

    assert caught.value.exit_code == 7
    assert "--spend-holdout" in caught.value.hint
    assert len(ledger.looks(KEY)) == 1


@pytest.mark.parametrize("split", ["fraction 0.3", "group site", "order last"])
def test_another_split_rule_does_not_open_the_labels_again(home: Home, split: str) -> None:
    ledger = Ledger(home)
    ledger.spend(KEY, "p1", run_id="r1", split="fraction 0.2")

    with pytest.raises(IntegrityError, match="r1"):
        ledger.spend(KEY, "p2", run_id="r2", split=split)


def test_other_targets_and_inputs_are_counted_apart(home: Home) -> None:
    ledger = Ledger(home)
    keys = [KEY, LedgerKey(KEY.subject, "mass"), LedgerKey("cd" * 32, "period")]

    looks = [ledger.spend(key, "p1", run_id="r1", split="f") for key in keys]

    assert [look.look for look in looks] == [1, 1, 1]


def test_a_higher_bound_admits_that_many_distinct_predictors(home: Home) -> None:
    ledger = Ledger(home)

    looks = [
        ledger.spend(KEY, digest, run_id="r1", split="f", max_queries=2)
        for digest in ("p1", "p2", "p1")
    ]

    assert [look.look for look in looks] == [1, 2, 1]
    with pytest.raises(IntegrityError, match="2 distinct predictors"):
        ledger.spend(KEY, "p3", run_id="r1", split="f", max_queries=2)


def test_an_override_looks_once_more_and_is_recorded_as_such(home: Home) -> None:
    ledger = Ledger(home)
    ledger.spend(KEY, "p1", run_id="r1", split="f")

    ledger.spend(KEY, "p2", run_id="r2", split="f", override=True)

    assert [(look.look, look.overridden) for look in ledger.looks(KEY)] == [(1, False), (2, True)]
    with pytest.raises(IntegrityError, match="r1, r2"):
        ledger.spend(KEY, "p3", run_id="r3", split="f")


def test_an_override_that_was_not_needed_is_not_marked(home: Home) -> None:
    look = Ledger(home).spend(KEY, "p1", run_id="r1", split="f", override=True)

    assert not look.overridden


def test_a_look_without_a_result_is_taken_up_again_not_charged_again(home: Home) -> None:
    ledger = Ledger(home)
    look = ledger.spend(KEY, "p1", run_id="r1", split="f")

    assert ledger.replay(KEY, "p1") is None
    assert ledger.spend(KEY, "p1", run_id="r1", split="f") == look


def test_each_evaluation_of_one_predictor_has_its_own_result_and_the_first_stays(
    home: Home,
) -> None:
    ledger = Ledger(home)
    look = ledger.spend(KEY, "p1", run_id="r1", split="f")

    ledger.settle(look, {"value": 1}, "judge-1")
    ledger.settle(look, {"value": 2}, "judge-1")
    ledger.settle(look, {"value": 3}, "judge-2")

    assert ledger.replay(KEY, "p1", "judge-1") == (look, {"value": 1})
    assert ledger.replay(KEY, "p1", "judge-2") == (look, {"value": 3})


def test_a_look_is_part_of_the_callers_transaction(home: Home) -> None:
    ledger = Ledger(home)

    def look() -> None:
        with home.writing() as tx:
            ledger.spend(KEY, "p1", run_id="r1", split="f", tx=tx)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        look()

    assert ledger.looks(KEY) == []


def test_a_look_is_bound_into_the_catalog_head(home: Home) -> None:
    Ledger(home).spend(KEY, "p1", run_id="r1", split="f")

    assert home.catalog_head.read_text().startswith("1 ")


def test_setting_the_database_back_does_not_bring_a_look_back(home: Home, tmp_path: Path) -> None:
    home.close()
    shutil.copy(home.database, tmp_path / "before.db")
    with Home.open(home.path) as opened:
        Ledger(opened).spend(KEY, "p1", run_id="r1", split="f")
    shutil.copy(tmp_path / "before.db", home.database)

    with Home.open(home.path) as opened, pytest.raises(IntegrityError, match="set back") as caught:
        Ledger(opened).spend(KEY, "p2", run_id="r2", split="f")

    assert caught.value.exit_code == 7


def test_of_eight_processes_exactly_one_gets_the_look(home: Home, tmp_path: Path) -> None:
    script = tmp_path / "look.py"
    script.write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "from sciharness.errors import IntegrityError\n"
        "from sciharness.store.home import Home\n"
        "from sciharness.store.ledger import Ledger, LedgerKey\n"
        "with Home.open(Path(sys.argv[1])) as home:\n"
        "    try:\n"
        "        Ledger(home).spend(LedgerKey('ab' * 32, 'period'), sys.argv[2],\n"
        "                           run_id=sys.argv[2], split='f')\n"
        "    except IntegrityError as error:\n"
        "        sys.exit(error.exit_code)\n"
    )

    children = [
        subprocess.Popen([sys.executable, str(script), str(home.path), f"p{number}"])
        for number in range(8)
    ]

    assert sorted(child.wait() for child in children) == [0] + [7] * 7


def test_a_predictor_is_its_model_source_arguments_and_inputs() -> None:
    digests = {
        predictor_digest("m", "i", {"mode": 1}, "f"),
        predictor_digest("M", "i", {"mode": 1}, "f"),
        predictor_digest("m", "I", {"mode": 1}, "f"),
        predictor_digest("m", "i", {"mode": 2}, "f"),
        predictor_digest("m", "i", {"mode": 1}, "F"),
        predictor_digest("m", "i", {"mode": 1}, "f"),
    }

    assert len(digests) == 5
