from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sciharness_catalog.dependencies import dependency_versions
from sciharness_catalog.distributions import find_distribution, find_plugins
from sciharness_catalog.errors import EditableError, IntegrityError, TwoClaimantsError
from sciharness_catalog.verify import read_verified

Add = Callable[..., Path]
VECTOR = Path(__file__).parent / "vector"


def test_a_plugin_is_listed_from_metadata_and_not_imported(
    site: Path, import_from: Callable[[Path, str], bool]
) -> None:
    (plugin,) = find_plugins([site])

    assert (plugin.plugin_id, plugin.distribution, plugin.version) == (
        "example.tiny",
        "tiny-plugin",
        "1.0",
    )
    assert (plugin.entry_point, plugin.packages, plugin.root) == ("tiny", ("tiny",), site)
    assert not plugin.editable and plugin.reason is None
    assert "tiny" not in sys.modules
    assert import_from(site, "tiny")  # importing it would have left its mark


def test_other_distributions_are_left_unread(site: Path) -> None:
    broken = site / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_bytes(b"\xff")

    assert [plugin.plugin_id for plugin in find_plugins([site])] == ["example.tiny"]


def test_a_distribution_may_hold_several_plugins(add: Add, site: Path) -> None:
    add({"two/__init__.py": b""}, name="two", plugins={"b.one": "two", "b.two": "two:Two"})

    assert [plugin.plugin_id for plugin in find_plugins([site])] == [
        "b.one",
        "b.two",
        "example.tiny",
    ]


@pytest.mark.parametrize(
    ("file", "data"),
    [("METADATA", b"\xff"), ("RECORD", b'"'), ("entry_points.txt", b"sciharness.plugins = [")],
)
def test_a_broken_plugin_is_listed_with_its_reason_and_hides_no_other(
    add: Add, site: Path, file: str, data: bytes
) -> None:
    add({"bad/__init__.py": b""}, name="bad", plugins={"bad": "bad"})
    (site / "bad-1.0.dist-info" / file).write_bytes(data)

    bad, tiny = find_plugins([site])

    assert bad.distribution == "bad" and bad.reason is not None and file in bad.reason
    assert tiny.reason is None


def test_a_missing_record_is_a_reason(site: Path) -> None:
    (site / "tiny_plugin-1.0.dist-info" / "RECORD").unlink()

    (plugin,) = find_plugins([site])

    assert plugin.reason is not None and "RECORD: is missing" in plugin.reason


def test_a_name_that_is_no_plugin_id_is_a_reason(add: Add, site: Path) -> None:
    add({"odd/__init__.py": b""}, name="odd", plugins={"Odd ID": "odd"})

    plugin = find_plugins([site])[0]

    assert plugin.reason is not None and "'Odd ID' is not a plugin ID" in plugin.reason


def test_two_claimants_are_both_listed_and_refused_by_name(add: Add, site: Path) -> None:
    add({"rival/__init__.py": b""}, name="rival", plugins={"example.tiny": "rival"})

    plugins = find_plugins([site])

    assert [plugin.distribution for plugin in plugins] == ["rival", "tiny-plugin"]
    for plugin in plugins:
        with pytest.raises(TwoClaimantsError, match="rival and tiny-plugin"):
            read_verified(plugin)


def test_two_versions_side_by_side_are_refused(add: Add, site: Path) -> None:
    add({"tiny/new.py": b""}, version="2.0")

    (plugin,) = find_plugins([site])

    assert plugin.reason is not None
    assert "tiny_plugin-1.0.dist-info, tiny_plugin-2.0.dist-info" in plugin.reason


def test_the_first_folder_on_the_path_counts(site: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(site, tmp_path / "other"))

    (plugin,) = find_plugins([other, site])

    assert plugin.root == other


def test_an_editable_install_is_seen_and_refused(tmp_path: Path) -> None:
    shutil.copytree(VECTOR / "src", tmp_path / "p" / "src")
    shutil.copy(VECTOR / "flit.toml", tmp_path / "p" / "pyproject.toml")
    site = install_editable(tmp_path / "p", tmp_path / "venv")

    plugins = find_plugins([site])

    assert [plugin.editable for plugin in plugins] == [True, True]
    with pytest.raises(EditableError, match="Install it built"):
        read_verified(plugins[0])


def install_editable(project: Path, venv: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    python = venv / "bin" / "python"
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(subprocess.check_output([python, "-c", code], text=True).strip())
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index"]
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--editable", str(project)]
    backend = Path(find_backend()).parent.parent
    subprocess.run([*pip, *options], check=True, env={**os.environ, "PYTHONPATH": str(backend)})
    return site


def find_backend() -> str:
    import flit_core

    return str(flit_core.__file__)


@pytest.mark.parametrize(
    ("noted", "editable"),
    [
        ({"url": "file:///x", "dir_info": {"editable": True}}, True),
        ({"url": "file:///x", "dir_info": {"editable": False}}, False),
        ({"url": "file:///x", "dir_info": {}}, False),
        ({"url": "file:///x.whl", "archive_info": {}}, False),
        ("no object", True),
    ],
    ids=["editable", "built", "built as pip notes it", "from a wheel", "unreadable"],
)
def test_what_pip_notes_decides_about_editable(site: Path, noted: object, editable: bool) -> None:
    (site / "tiny_plugin-1.0.dist-info" / "direct_url.json").write_text(json.dumps(noted))

    (plugin,) = find_plugins([site])

    assert plugin.editable is editable


def test_a_path_hook_in_place_of_code_is_editable(add: Add, site: Path) -> None:
    add({"__editable__.gone.pth": b"/somewhere\n"}, name="gone", plugins={"gone": "gone"})

    assert find_plugins([site])[1].editable


def test_a_distribution_is_found_by_any_spelling_of_its_name(site: Path) -> None:
    found = find_distribution("Tiny.Plugin", [site])

    assert found is not None and (found.name, found.version) == ("tiny-plugin", "1.0")
    assert find_distribution("absent", [site]) is None


def test_a_folder_named_for_another_distribution_is_refused(site: Path) -> None:
    (site / "tiny_plugin-1.0.dist-info").rename(site / "other-1.0.dist-info")

    with pytest.raises(IntegrityError, match="other-1.0.dist-info"):
        find_distribution("other", [site])


def test_dependencies_are_told_by_version_through_extras_and_markers(add: Add, site: Path) -> None:
    add(
        {"top/__init__.py": b""},
        name="top",
        plugins={},
        requires=("Tiny.Plugin", "middle[more]", "absent", "unused ; python_version < '3'"),
    )
    add(
        {"middle/__init__.py": b""},
        name="middle",
        plugins={},
        requires=("low ; extra == 'more'", "top", "unused ; extra == 'other'"),
    )
    add({"low/__init__.py": b""}, name="low", version="3", plugins={})
    add({"unused/__init__.py": b""}, name="unused", plugins={})

    assert dependency_versions("top", path=[site]) == {
        "low": "3",
        "middle": "1.0",
        "tiny-plugin": "1.0",
    }


def test_the_listing_reads_no_code(
    site: Path, source: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in source:
        (site / name).unlink()

    assert [plugin.plugin_id for plugin in find_plugins([site])] == ["example.tiny"]
