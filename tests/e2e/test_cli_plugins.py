"""Plugins at the command line: listed, admitted and refused without importing any of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CANARY = """
import os, pathlib
pathlib.Path(os.environ.get("MARK", "mark")).write_text("imported")
"""
SMALL = {
    "inputs": None,
    "holdout": "none",
    "acceptance": [{"metric": "value", "op": ">=", "value": 1}],
}
HEAVY = ("numpy", "pandas", "scipy", "sympy", "matplotlib", "pyoperon", "sklearn", "pyarrow")

PROBE = """
import json, sys
from sciharness.cli import main
try:
    main(sys.argv[1:])
except SystemExit as leave:
    assert not leave.code, leave.code
sys.stderr.write(json.dumps(sorted(sys.modules)))
"""


def beside(made: Any, folder: Path) -> dict[str, str]:
    """Return the setting that puts one more folder on the path."""
    return {"PYTHONPATH": os.pathsep.join([made.environment["PYTHONPATH"], str(folder)])}


@pytest.mark.parametrize("words", [["--help"], ["plugin", "list"], ["plugin", "list", "--json"]])
def test_no_plugin_is_imported(harness: Any, words: list[str]) -> None:
    probed = subprocess.run(
        [sys.executable, "-c", PROBE, *words],
        env=dict(harness.environment),
        capture_output=True,
        text=True,
        check=True,
    )

    loaded = {name.partition(".")[0] for name in json.loads(probed.stderr)}
    assert "sciharness" in loaded and probed.stdout
    assert not loaded & {"toyplugin", "sciharness_evaluation", "sciharness_reporting", *HEAVY}
    assert not {name for name in loaded if name.startswith("sciharness_") and "catalog" not in name}


def test_help_imports_no_command_either(harness: Any) -> None:
    probed = subprocess.run(
        [sys.executable, "-c", PROBE, "--help"],
        env=dict(harness.environment),
        capture_output=True,
        text=True,
        check=True,
    )

    loaded = set(json.loads(probed.stderr))
    assert not loaded & {"sqlite3", "attrs", "cattrs", "yaml", "pluggy", "importlib.metadata"}


def test_plugins_are_listed_with_their_state(
    harness: Any, conforms: Callable[[str, Any], None]
) -> None:
    listed = harness("plugin", "list", "--json", code=0).json

    conforms("plugin list", listed)
    by_id = {entry["id"]: entry for entry in listed["plugins"]}
    assert by_id["toy"]["origin"] == "third_party" and by_id["toy"]["state"] == "admitted"
    assert by_id["toy"]["trusted_metrics"] is False
    assert by_id["evaluation"]["origin"] == "first_party"
    assert by_id["evaluation"]["trusted_metrics"] is True
    assert by_id["runtime"]["origin"] == "builtin"
    assert "toy.fit" in by_id["toy"]["capabilities"]


def test_a_plugin_shows_what_each_operation_is(
    harness: Any, conforms: Callable[[str, Any], None]
) -> None:
    shown = harness("plugin", "show", "toy", "--json", code=0).json

    conforms("plugin show", shown)
    fit = next(one for one in shown["operations"] if one["name"] == "toy.fit")
    assert fit["group"] == "execution and training" and fit["class"] == "core"
    assert set(fit["produces"]) == {"model", "inference.source.python", "model_card"}
    assert fit["request"]["properties"]["bias"]["default"] == 0.0


def test_what_nobody_admitted_is_never_imported(
    harness: Any, install: Callable[..., Path], tmp_path: Path
) -> None:
    folder = install("canary", CANARY)
    mark = tmp_path / "mark"
    setting = {**beside(harness, folder), "MARK": str(mark)}
    harness.contract(**SMALL, capabilities=["canary.sing"])

    listed = harness("plugin", "list", "--json", code=0, **setting).json
    shown = harness("plugin", "show", "canary", "--json", code=0, **setting).json
    ran = harness("run", "c.yaml", "--json", code=7, **setting).json

    (canary,) = [one for one in listed["plugins"] if one["id"] == "canary"]
    assert (canary["state"], canary["capabilities"]) == ("installed", [])
    assert "plugin admit canary" in canary["reason"] + shown["reason"]
    assert "plugin admit canary" in str(ran["problems"])
    assert not mark.exists() and not (harness.folder / "mark").exists()
    subprocess.run(
        [sys.executable, "-c", "import canary"],
        env={**harness.environment, **setting},
        check=True,
    )
    assert mark.read_text() == "imported"  # an import would have left it


def test_a_broken_plugin_disturbs_no_other(harness: Any, install: Callable[..., Path]) -> None:
    setting = beside(harness, install("broken", "import no_such_library\n"))
    harness.contract(**SMALL, capabilities=["toy.nothing"])
    harness.contract(**SMALL, capabilities=["broken.any"], name="broken.yaml")
    harness("plugin", "admit", "broken", **setting)

    listed = harness("plugin", "list", "--json", code=0, **setting).json
    refused = harness("run", "broken.yaml", "--json", **setting)

    states = {entry["id"]: entry["state"] for entry in listed["plugins"]}
    reasons = {entry["id"]: entry["reason"] for entry in listed["plugins"]}
    assert states["broken"] == "broken" and "no_such_library" in reasons["broken"]
    assert states["toy"] == "admitted"
    assert refused.code == 8
    assert "no_such_library" in str(refused.json) and "Traceback" not in refused.err
    assert harness("run", "c.yaml", code=0, **setting)
    assert harness("list", code=0, **setting)


def test_two_claimants_of_an_id_are_both_refused(
    harness: Any, install: Callable[..., Path]
) -> None:
    setting = beside(harness, install("impostor", CANARY, plugin_id="evaluation"))
    harness.table()
    harness.contract()

    refused = harness("run", "c.yaml", "--json", code=7, **setting)

    assert "impostor" in str(refused.json) and "sciharness-evaluation" in str(refused.json)
    assert harness("run", "c.yaml", code=0)  # without the impostor


def test_changed_bytes_are_not_loaded(
    fresh: Callable[..., Any], install: Callable[..., Path]
) -> None:
    harness = fresh("changed")
    text = (
        "from attrs import frozen\nfrom sciharness import Capability, Outcome, hookimpl\n"
        "@frozen\nclass Request:\n    '''Nothing.'''\n"
        "def run(request, context):\n    '''Run.'''\n    return Outcome(metrics={'value': 1.0})\n"
        "@hookimpl\ndef harness_capabilities():\n    '''Offer it.'''\n"
        "    return [Capability('run', run, Request, 'Run.', 'analysis', metrics=('value',))]\n"
    )
    folder = install("small", text)
    setting = beside(harness, folder)
    harness("plugin", "admit", "small", code=0, **setting)
    harness.contract(**SMALL, capabilities=["small.run"])
    harness("run", "c.yaml", code=0, **setting)
    (folder / "small.py").write_text(text.replace("1.0", "2.0"), "utf-8")

    refused = harness("run", "c.yaml", "--json", code=7, **setting)
    shown = harness("plugin", "verify", "small", "--json", code=7, **setting).json

    assert "small" in str(refused.json["problems"])
    assert shown["ok"] is False and shown["plugins"][0]["state"] == "refused"
    (folder / "small.py").write_text(text, "utf-8")
    assert harness("run", "c.yaml", code=0, **setting)


def test_a_revoked_plugin_may_not_load(fresh: Callable[..., Any]) -> None:
    harness = fresh("revoked")
    harness.contract(**SMALL, capabilities=["toy.nothing"])
    harness("plugin", "revoke", "toy", code=0)

    refused = harness("run", "c.yaml", "--json", code=7)

    assert "toy" in str(refused.json["problems"])


def test_an_admission_may_be_looked_at_first(fresh: Callable[..., Any]) -> None:
    harness = fresh("looked")
    harness("plugin", "revoke", "toy", code=0)

    looked = harness("plugin", "admit", "toy", "--dry-run", code=0)

    assert len(looked.out.split()[2]) == 64
    assert [
        entry["state"]
        for entry in harness("plugin", "list", "--json", code=0).json["plugins"]
        if entry["id"] == "toy"
    ] != ["admitted"]
