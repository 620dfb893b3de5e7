"""The notebook example: kept without outputs, and run from its first cell to its last."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOK = EXAMPLES / "notebook" / "first_result.ipynb"

nbformat = pytest.importorskip("nbformat", reason="notebooks need nbclient and ipykernel")
nbclient = pytest.importorskip("nbclient", reason="notebooks need nbclient and ipykernel")
pytest.importorskip("ipykernel", reason="notebooks need nbclient and ipykernel")


def test_it_is_kept_without_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]

    nbformat.validate(notebook)
    assert len(code) >= 6
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What each code cell shows, run beside a copy of the examples with a home of its own."""
    scratch = tmp_path_factory.mktemp("notebook")
    locks = shutil.ignore_patterns("contract.lock")
    shutil.copytree(EXAMPLES, scratch / "examples", ignore=locks)
    notebook = nbformat.read(scratch / "examples" / "notebook" / NOTEBOOK.name, as_version=4)
    place = {"metadata": {"path": str(scratch / "examples" / "notebook")}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_HOME", str(scratch / "home"))
        patch.setenv("IPYTHONDIR", str(scratch / "ipython"))
        client = nbclient.NotebookClient(
            notebook, timeout=300, kernel_name="python3", resources=place
        )
        client.execute()
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.slow
def test_its_result_is_shown_with_formula_verdict_and_plots(outputs: list[Any]) -> None:
    (shown,) = outputs[0]

    html = shown.data["text/html"]
    assert "<math" in html
    assert ">succeeded<" in html and ">met<" in html
    assert "data:image/svg+xml;base64," in html
    assert shown.data["text/plain"].startswith("Result(00001-")


@pytest.mark.slow
def test_its_formula_has_the_expansion_of_copper(outputs: list[Any]) -> None:
    (shown,) = outputs[3]

    numbers = [float(text) for text in re.findall(r"[\d.]+", shown.data["text/plain"])]
    # Handbook values are 16.5e-6/K to 16.7e-6/K at 300 K; the error bound of the contract is 3 %.
    assert numbers[2] == pytest.approx(16.6, rel=0.03)


@pytest.mark.slow
def test_its_network_is_shown(outputs: list[Any]) -> None:
    (shown,) = outputs[4]

    assert "theta: float64 along (time, node)" in shown.data["text/plain"]
