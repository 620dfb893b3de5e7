"""The example of coupled oscillators: its data are what its script makes, a run finds the law."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "oscillator_coupling"


def _maker() -> Any:
    spec = importlib.util.spec_from_file_location("make_network", EXAMPLE / "make_network.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_its_directory_is_what_the_script_makes(tmp_path: Path) -> None:
    _maker().main(tmp_path / "network")

    made = {path.name: path.read_bytes() for path in (tmp_path / "network").iterdir()}
    kept = {path.name: path.read_bytes() for path in (EXAMPLE / "network").iterdir()}
    assert made.keys() == kept.keys()
    assert made["manifest.json"] == kept["manifest.json"]
    assert made["A.npy"] == kept["A.npy"]


@pytest.mark.slow
def test_a_run_of_it_finds_the_coupling(harness: Any) -> None:
    locks = shutil.ignore_patterns("contract.lock", "*.py")
    shutil.copytree(EXAMPLE, harness.folder / "example", ignore=locks)

    run = harness("run", "example/contract.yaml", "--json", code=0).json

    paths = {item["name"]: Path(item["path"]) for item in run["artifacts"]}
    formulas = json.loads(paths["formulas.json"].read_text("utf-8"))
    chosen = formulas["candidates"][formulas["chosen"]]
    assert chosen["structure"] == "C*own_rate + C*sum_sin_diff"
    # the script's coupling is 0.45; phases are measured to 0.01 at 161 times, so slopes after
    # smoothing to a few hundredths of a pull of order one, at 1800 cells
    assert chosen["constants"][1]["value"] == pytest.approx(0.45, rel=0.02)
    assert [item["met"] for item in run["criteria"]] == [True]
