"""What commands say to a person: few lines, plain units, right numbers of things."""

from __future__ import annotations

from typing import Any

CONTRACT = {"capabilities": ["toy.fit", "evaluation.regression"], "budget": {"wall_time": "20m"}}


def test_a_budget_is_told_in_the_units_of_contracts(harness: Any) -> None:
    harness.table()
    harness.contract(**CONTRACT)

    said = harness("run", "c.yaml", code=0).out

    (line,) = [one for one in said.splitlines() if one.startswith("budget used: ")]
    assert line.endswith("s of 20m")


def test_progress_into_a_pipe_is_rare(harness: Any) -> None:
    harness.table()
    harness.contract(**CONTRACT)

    said = harness("run", "c.yaml", code=0).err

    assert [line for line in said.splitlines() if line.startswith(" ")] == []
    assert "[1] fit: toy.fit" in said


def test_one_row_is_not_several(harness: Any) -> None:
    path = harness.table()
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines, lines[-1], ""]), "utf-8")
    harness.contract()

    warned = harness("check", "c.yaml", code=0).err

    assert "1 row repeats an earlier row" in warned
    assert "found 1 row" not in warned


def test_call_names_its_files_from_here(harness: Any) -> None:
    harness.table()

    said = harness("call", "tabular.describe", "--input", "data=data.csv", code=0).out

    assert "tabular.describe-out/description.json" in said.splitlines()


def test_any_table_can_be_described_without_roles(harness: Any) -> None:
    (harness.folder / "odd.csv").write_text("name,a,b,note\nx,1,2,\ny,2,,foo\nz,3,5,bar\n", "utf-8")

    done = harness("call", "tabular.describe", "--input", "data=odd.csv", "--json", code=0).json

    assert done["metrics"]["text_columns"] == 2
    assert done["metrics"]["missing_cells"] == 2


def test_show_says_what_an_evaluator_takes(harness: Any) -> None:
    said = harness("plugin", "show", "evaluation", code=0).out
    card = harness("plugin", "show", "evaluation", "--json", code=0).json["operations"][0]

    assert said.count("takes: predictor, data") == 2
    assert [one["name"] for one in card["inputs"]] == ["predictor", "data"]
