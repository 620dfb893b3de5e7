"""The page about context.data: the packaged guide, and true."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import yaml

from sciharness.contextdata import guide

ROOT = Path(__file__).parents[2]


def test_it_is_the_packaged_guide() -> None:
    page = (ROOT / "examples" / "context_data.md").read_text(encoding="utf-8")

    assert page == guide(), "write it anew with `python .ci/docs.py`"


def test_the_check_of_all_pages_passes() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "docs.py", "--check"], capture_output=True, text=True
    )

    assert (done.returncode, done.stdout) == (0, "")


def test_the_readme_leads_to_it() -> None:
    assert "](examples/context_data.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_its_contract_is_the_example() -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", guide(), re.DOTALL)
    example = ROOT / "examples" / "insulation_ageing" / "contract.yaml"

    assert yaml.safe_load(block)["inputs"] == yaml.safe_load(example.read_text())["inputs"]
