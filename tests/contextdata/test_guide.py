"""The guide agrees with the samples and with the check."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness.contextdata import guide, inspect_context_data

SAMPLES = Path(__file__).parents[2] / "examples" / "data"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", guide(), re.DOTALL)


@pytest.mark.parametrize(("position", "sample"), [(0, "yearly_table"), (1, "oscillator_network")])
def test_its_examples_are_the_samples(position: int, sample: str) -> None:
    told = json.loads(blocks("json")[position])

    assert told == json.loads((SAMPLES / sample / "manifest.json").read_text("utf-8"))


def test_its_weight_goes_into_the_network(network: Any) -> None:
    network.variables["weight"] = json.loads(blocks("json")[2])["weight"]
    network.arrays["weight"] = np.zeros((3, 5))

    assert inspect_context_data(network.write())["errors"] == []


def test_its_program_runs(tmp_path: Path) -> None:
    (tmp_path / "context.data").symlink_to(SAMPLES / "oscillator_network")

    done = subprocess.run(
        [sys.executable, "-c", blocks("python")[0]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert "['A'] 10" in done.stdout


def test_it_is_read_without_numpy() -> None:
    program = (
        "import sys\n"
        "from sciharness.contextdata import guide\n"
        "print(len(guide()), 'numpy' in sys.modules)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == f"{len(guide())} False\n"


def test_the_samples_are_what_their_script_makes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(SAMPLES / "make_samples.py"), str(tmp_path)], check=True)

    for sample in ("yearly_table", "oscillator_network"):
        for made in (tmp_path / sample).iterdir():
            kept = SAMPLES / sample / made.name
            if made.suffix == ".json":
                assert made.read_text("utf-8") == kept.read_text("utf-8")
            else:  # sines of another C library may differ in the last bits, and grow with time
                np.testing.assert_allclose(np.load(made), np.load(kept), rtol=1e-9)
