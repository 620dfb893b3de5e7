"""The plugin facade: listing, leasing, admitting, and never importing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sciharness.errors import ContractError, PluginError
from sciharness.plugins import Plugins
from sciharness.store.home import Home
from sciharness_catalog.errors import DigestDiffersError, NotAdmittedError, NotInstalledError
from sciharness_catalog.pins import Pin


@pytest.fixture
def opened(tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home, with the test plugins on the path."""
    monkeypatch.syspath_prepend(str(site))
    return Home.open(tmp_path / "home")


def test_a_plugin_nobody_decided_on_is_listed_and_not_leased(opened: Home) -> None:
    plugins = Plugins(opened)

    (status,) = [one for one in plugins.listing() if one.id == "tiny"]

    assert (status.state, status.capabilities) == ("installed", ())
    assert status.reason is not None and "harness plugin admit tiny" in status.reason
    with pytest.raises(NotAdmittedError):
        plugins.lease("tiny.add")


def test_an_admitted_plugin_is_described_and_leased(opened: Home) -> None:
    plugins = Plugins(opened)

    status = plugins.admit("tiny")
    leased = plugins.lease("tiny.add")

    assert status.state == "admitted"
    assert "tiny.add" in status.capabilities
    assert leased.pin == Pin("tiny", "1.0", "add", status.digest)
    assert leased.operation.request_schema["properties"]["factor"]["exclusiveMinimum"] == 0
    assert leased.package().package.digest == status.digest


@pytest.mark.parametrize(("trust", "granted"), [(False, frozenset()), (True, frozenset({"score"}))])
def test_metrics_are_trusted_only_by_this_installation(
    opened: Home, trust: bool, granted: frozenset[str]
) -> None:
    plugins = Plugins(opened)
    plugins.admit("tiny", trust_metrics=trust)

    assert plugins.lease("tiny.judge").trusted_metrics == granted


def test_a_missing_operation_names_the_nearest(opened: Home) -> None:
    plugins = Plugins(opened)
    plugins.admit("tiny")

    with pytest.raises(NotInstalledError, match="Did you mean 'nothing'"):
        plugins.lease("tiny.nothin")


def test_a_missing_plugin_of_ours_names_what_to_install(opened: Home) -> None:
    with pytest.raises(ContractError) as caught:
        Plugins(opened).lease("nowhere.search")

    assert isinstance(caught.value, NotInstalledError)


def test_another_pin_is_refused(opened: Home) -> None:
    plugins = Plugins(opened)
    plugins.admit("tiny")

    with pytest.raises(DigestDiffersError):
        plugins.lease("tiny.add", Pin("tiny", "1.0", "add", "0" * 64))


def test_a_revoked_plugin_is_not_leased(opened: Home) -> None:
    plugins = Plugins(opened)
    plugins.admit("tiny")
    plugins.lease("tiny.add")

    plugins.revoke("tiny")

    with pytest.raises(NotAdmittedError, match="revoked"):
        plugins.lease("tiny.add")


def test_the_descriptor_is_kept_under_the_digest(
    opened: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    Plugins(opened).admit("tiny")

    def no_worker(*_: object) -> None:
        raise AssertionError("the cache was not used")

    monkeypatch.setattr("sciharness.workers.pool.Workers.describe", no_worker)

    assert Plugins(opened).lease("tiny.add").operation.name == "tiny.add"


def test_a_damaged_cache_is_asked_again(opened: Home) -> None:
    Plugins(opened).admit("tiny")
    (kept,) = (opened.plugins / "descriptors").iterdir()
    plain = json.loads(kept.read_text("utf-8"))
    plain["descriptor"]["operations"][0]["metrics"] = "everything"
    kept.write_text(json.dumps(plain), "utf-8")

    assert Plugins(opened).lease("tiny.add").operation.metrics == ("total",)


def test_listing_and_leasing_import_no_plugin(opened: Home, site: Path) -> None:
    Plugins(opened).admit("tiny")
    code = (
        "import sys; sys.path.insert(0, sys.argv[2]); from pathlib import Path;"
        "from sciharness.plugins import Plugins; from sciharness.store.home import Home;"
        "plugins = Plugins(Home.open(Path(sys.argv[1])));"
        "assert any(s.state == 'admitted' for s in plugins.listing());"
        "plugins.lease('tiny.add').package();"
        "print([n for n in sys.modules if n.startswith('harness_') or n in ('numpy', 'pandas')])"
    )

    said = subprocess.run(
        [sys.executable, "-c", code, str(opened.path), str(site)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert said.stdout.strip() == "[]"


def test_a_plugin_that_does_not_import_is_broken(
    opened: Home, broken_site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(broken_site))
    plugins = Plugins(opened)

    status = plugins.admit("broken")

    assert status.state == "broken"
    assert status.reason is not None and "no_such_library" in status.reason
    with pytest.raises(PluginError) as caught:
        plugins.lease("broken.anything")
    assert caught.value.exit_code == 8
