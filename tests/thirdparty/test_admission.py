"""Admission from outside: states, distinct errors, runs whose plugin is gone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sciharness.descriptors import Descriptor
from sciharness.errors import HarnessError
from sciharness.plugins import Plugins
from sciharness.workers.pool import LoadSet, Workers

MODULE = "example_six_hooks/capability.py"


def edit(bare: Any, name: str, old: str, new: str) -> None:
    (path,) = Path(bare.site).rglob(name)
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def remove(bare: Any) -> None:
    for path in Path(bare.site).glob("example_six_hooks*"):
        shutil.rmtree(path)


def not_admitted(bare: Any, plugins: Plugins) -> None:
    """Leave it as it is."""


def not_installed(bare: Any, plugins: Plugins) -> None:
    remove(bare)


def another_version(bare: Any, plugins: Plugins) -> None:
    plugins.admit("example.six")
    (info,) = Path(bare.site).glob("example_six_hooks-*")
    edit(bare, f"{info.name}/METADATA", "Version: 1.0.0", "Version: 1.0.1")


def other_bytes(bare: Any, plugins: Plugins) -> None:
    plugins.admit("example.six")
    edit(bare, MODULE, "the target lies in", "the target is in")


def revoked(bare: Any, plugins: Plugins) -> None:
    plugins.admit("example.six")
    plugins.revoke("example.six")


def import_fails(bare: Any, plugins: Plugins) -> None:
    edit(bare, "example_six_hooks/plugin.py", "HOOK_API = 1", "import no_such_library")
    plugins.admit("example.six")


def another_number(bare: Any, plugins: Plugins) -> None:
    edit(bare, "example_six_hooks/plugin.py", "HOOK_API = 1", "HOOK_API = 7")
    plugins.admit("example.six")


def no_record(bare: Any, plugins: Plugins) -> None:
    edit(bare, "example_six_hooks/plugin.py", "return [SPREAD]", "return ['spread']")
    plugins.admit("example.six")


def editable(bare: Any, plugins: Plugins) -> None:
    (info,) = Path(bare.site).glob("example_six_hooks-*")
    place = '{"dir_info": {"editable": true}, "url": "file:///x"}'
    (info / "direct_url.json").write_text(place, "utf-8")


def two_claimants(bare: Any, plugins: Plugins) -> None:
    plugins.admit("example.six")
    twin = Path(bare.site) / "another_one-1.0.dist-info"
    (info,) = Path(bare.site).glob("example_six_hooks-*")
    shutil.copytree(info, twin)
    text = (twin / "METADATA").read_text("utf-8")
    (twin / "METADATA").write_text(text.replace("example-six-hooks", "another-one"), "utf-8")


CASES: list[tuple[Callable[[Any, Plugins], None], int, str, str, str]] = [
    (not_installed, 3, "contract", "", "no installed distribution offers it"),
    (not_admitted, 7, "integrity", "installed", "is installed but not admitted"),
    (another_version, 7, "integrity", "refused", "wrong version: admitted 1.0.0, installed 1.0.1"),
    (other_bytes, 7, "integrity", "refused", "digest differs: admitted"),
    (revoked, 7, "integrity", "refused", "was revoked"),
    (import_fails, 8, "plugin", "broken", "No module named 'no_such_library'"),
    (another_number, 8, "plugin", "broken", "written for HOOK_API 7, this kernel has 1"),
    (no_record, 8, "plugin", "broken", "a Capability is expected"),
    (editable, 7, "integrity", "refused", "is an editable install"),
    (two_claimants, 7, "integrity", "refused", "another-one and example-six-hooks"),
]


@pytest.mark.parametrize(
    ("make", "code", "kind", "state", "said"), CASES, ids=[case[0].__name__ for case in CASES]
)
def test_each_reason_has_its_own_error_and_disturbs_nothing_else(
    bare: Any, make: Callable[[Any, Plugins], None], code: int, kind: str, state: str, said: str
) -> None:
    with bare.opened() as home:
        make(bare, Plugins(home))
        Plugins(home).admit("toy")
        plugins = Plugins(home)
        with pytest.raises(HarnessError) as refused:
            plugins.lease("example.six.spread").package()
        states = {one.state for one in plugins.listing() if one.id == "example.six"}
        other = plugins.lease("toy.nothing")

    assert (refused.value.exit_code, refused.value.kind) == (code, kind)
    assert said in refused.value.message
    assert states == {state} - {""}
    assert other.operation.name == "toy.nothing"


def test_the_reasons_can_be_told_apart() -> None:
    sayings = [case[4] for case in CASES]

    assert len(set(sayings)) == len(sayings)


def test_one_that_does_not_load_is_not_started_by_each_list(
    bare: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bare.opened() as home:
        import_fails(bare, Plugins(home))
        (first,) = [one for one in Plugins(home).listing() if one.id == "example.six"]
        started: list[object] = []
        real = Workers.describe

        def describe(workers: Workers, package: LoadSet) -> Descriptor:
            started.append(package)
            return real(workers, package)

        monkeypatch.setattr(Workers, "describe", describe)
        (again,) = [one for one in Plugins(home).listing() if one.id == "example.six"]
        quiet = len(started)
        (Path(bare.site) / "no_such_library.py").write_text("HOOK_API = 1\n", "utf-8")
        (healed,) = [one for one in Plugins(home).listing() if one.id == "example.six"]

    assert (first.state, first.reason) == ("broken", again.reason)
    assert quiet == 0
    assert healed.state == "admitted"  # something was installed, so it was tried again


def test_verify_names_what_changed_and_ends_with_seven(bare: Any) -> None:
    bare("plugin", "admit", "example.six", code=0)
    sound = bare("plugin", "verify", "example.six", code=0)
    edit(bare, MODULE, "the target lies in", "the target is in")

    changed = bare("plugin", "verify", code=7)

    assert "example.six 1.0.0 admitted" in sound.out
    assert MODULE in changed.out


def test_trust_is_the_installations_word(bare: Any) -> None:
    bare("plugin", "admit", "example.six", code=0)
    plain = bare("plugin", "show", "example.six", "--json", code=0).json
    bare("plugin", "admit", "example.six", "--trust-metrics", code=0)
    trusted = bare("plugin", "show", "example.six", "--json", code=0).json

    def granted(shown: Any) -> list[str]:
        (within,) = [one for one in shown["operations"] if one["name"].endswith(".within")]
        return list(within["trusted_metrics"])

    assert (granted(plain), granted(trusted)) == ([], ["share_within"])


def test_a_run_stays_readable_when_its_plugin_is_gone(bare: Any) -> None:
    bare("plugin", "admit", "example.six", code=0)
    bare.contract(
        capabilities=["example.six.spread"],
        acceptance=[{"metric": "spread", "op": ">=", "value": 0}],
    )
    bare("new", "c.yaml", code=0)
    pins = bare("check", "c.yaml", "--json", code=0).json["pins"]
    bare("run", "c.yaml", "--fresh", "--json", code=0)
    remove(bare)

    (finished,) = [
        one["run_id"]
        for one in bare("list", "--json", code=0).json["runs"]
        if one["status"] == "succeeded"
    ]
    shown = bare("show", finished, "--json", code=0).json
    for words in (["events", finished], ["verify", finished], ["export", finished, "--out", "o"]):
        bare(*words, code=0)
    resumed = bare("resume", "1", "--json")

    assert shown["metrics"][0]["name"] == "spread"
    assert (bare.folder / "o" / "report.md").is_file() or any((bare.folder / "o").rglob("*.md"))
    assert resumed.code == 3
    assert "no installed distribution offers it" in resumed.json["error"]["message"]
    assert pins[0] in resumed.json["error"]["hint"]
    assert "pip install example-six-hooks==1.0.0" in resumed.json["error"]["hint"]


def test_a_run_whose_plugin_changed_names_the_pin_too(bare: Any) -> None:
    bare("plugin", "admit", "example.six", code=0)
    bare.contract(
        capabilities=["example.six.spread"],
        acceptance=[{"metric": "spread", "op": ">=", "value": 0}],
    )
    bare("new", "c.yaml", code=0)
    edit(bare, MODULE, "the target lies in", "the target is in")
    bare("plugin", "admit", "example.six", code=0)

    resumed = bare("start", "1", "--json", code=7)

    assert "digest differs: pinned" in resumed.json["error"]["message"]
    assert "The run is pinned to `example.six 1.0.0 spread " in resumed.json["error"]["hint"]
