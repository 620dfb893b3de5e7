from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sciharness_catalog.distributions import InstalledPlugin, find_plugins
from sciharness_catalog.errors import IntegrityError
from sciharness_catalog.verify import digest_of_tree, read_verified

SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]
ImportFrom = Callable[[Path, str], bool]


def test_the_files_and_their_digest_are_returned_without_bytecode(
    tiny: InstalledPlugin, source: Mapping[str, bytes]
) -> None:
    package = read_verified(tiny)

    assert list((tiny.root / "tiny").rglob("*.pyc"))  # pip put it there and listed it
    assert package.files == source
    assert package.digest == digest_of_tree(tiny.root, "tiny-plugin")
    assert (package.plugin_id, package.entry_point, package.packages) == (
        "example.tiny",
        "tiny",
        ("tiny",),
    )
    assert package.changed == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: bytes([data[0] ^ 1]) + data[1:],
        lambda data: data + b" ",
        lambda data: data[:-1],
        lambda data: b"",
    ],
    ids=["flipped", "appended", "truncated", "emptied"],
)
@pytest.mark.parametrize("name", ["tiny/__init__.py", "tiny/work.py", "tiny/data.txt"])
def test_changed_bytes_change_the_digest_and_are_named(
    tiny: InstalledPlugin, name: str, change: Callable[[bytes], bytes]
) -> None:
    before = read_verified(tiny).digest
    path = tiny.root / name
    path.write_bytes(change(path.read_bytes()))

    package = read_verified(tiny)

    assert package.digest != before
    assert package.changed == (name,)


def test_a_record_that_was_rewritten_to_fit_hides_nothing(tiny: InstalledPlugin) -> None:
    before = read_verified(tiny).digest
    record = tiny.root / "tiny_plugin-1.0.dist-info" / "RECORD"
    (tiny.root / "tiny" / "work.py").write_bytes(b"evil = True\n")
    (tiny.root / "tiny" / "evil.py").write_bytes(b"")
    rows = record.read_text().replace("tiny/work.py,sha256=", "tiny/work.py,,,")
    record.write_text(rows + "tiny/evil.py,,\n")

    package = read_verified(tiny)

    assert package.digest != before
    assert "tiny/evil.py" in package.files


def delete(folder: Path) -> None:
    (folder / "work.py").unlink()


def rename(folder: Path) -> None:
    (folder / "work.py").rename(folder / "wrok.py")


def link_to_equal_bytes(folder: Path) -> None:
    shutil.move(folder / "work.py", folder.parent / "aside.py")
    (folder / "work.py").symlink_to(folder.parent / "aside.py")


def link_the_package(folder: Path) -> None:
    shutil.move(folder, folder.parent / "aside")
    folder.symlink_to(folder.parent / "aside", target_is_directory=True)


def make_fifo(folder: Path) -> None:
    (folder / "data.txt").unlink()
    os.mkfifo(folder / "data.txt")


def file_for_folder(folder: Path) -> None:
    (folder / "data.txt").unlink()
    (folder / "data.txt").mkdir()


def add(name: str, data: bytes = b"") -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (delete, "'tiny/work.py' is listed in RECORD but missing"),
        (rename, "'tiny/wrok.py' is not listed"),
        (link_to_equal_bytes, "'tiny/work.py' is a link"),
        (link_the_package, "'tiny' is a link"),
        (make_fifo, "'tiny/data.txt' is a link or a special file"),
        (file_for_folder, "folder 'tiny/data.txt' is not listed"),
        (add("extra.py"), "'tiny/extra.py' is not listed"),
        (add("work.pyc"), "'tiny/work.pyc' is not listed"),
        (add("evil.pth"), "'tiny/evil.pth' is not listed"),
        (add(f"work{SUFFIX}"), f"'tiny/work{SUFFIX}' is not listed"),
        (add(f"other{SUFFIX}"), f"'tiny/other{SUFFIX}' is not listed"),
        (add("work/__init__.py"), "folder 'tiny/work' is not listed"),
        (add("__pycache__/work.so"), "tiny/__pycache__/work.so is no bytecode file"),
        (add("__pycache__/deep/x.pyc"), "tiny/__pycache__/deep is no bytecode file"),
        (add(f"../tiny{SUFFIX}"), f"'tiny{SUFFIX}' shadows 'tiny'"),
        (add("../tiny.py"), "'tiny.py' shadows 'tiny'"),
    ],
)
def test_a_file_set_that_is_not_exactly_the_installed_one_is_refused(
    tiny: InstalledPlugin, change: Callable[[Path], None], said: str
) -> None:
    read_verified(tiny)
    change(tiny.root / "tiny")

    with pytest.raises(IntegrityError) as caught:
        read_verified(tiny)

    assert said in str(caught.value)
    assert caught.value.exit_code == 7


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("evil.pth,,", "'evil.pth' would run at every interpreter start"),
        ("tiny/old.pyc,,", "'tiny/old.pyc' is bytecode without source"),
        (f"tiny/work{SUFFIX},,", "shadows"),
        ("tiny/Work.py,,", "differ only in spelling"),
        ("tiny/../../evil.py,,", "not a plain relative path"),
    ],
)
def test_a_record_that_lists_what_no_package_may_hold_is_refused(
    tiny: InstalledPlugin, row: str, said: str
) -> None:
    record = tiny.root / "tiny_plugin-1.0.dist-info" / "RECORD"
    record.write_text(record.read_text() + row + "\n")

    with pytest.raises(IntegrityError) as caught:
        read_verified(tiny)

    assert said in str(caught.value)


def test_an_extension_beside_a_module_would_have_been_found_first(tiny: InstalledPlugin) -> None:
    planted = tiny.root / "tiny" / f"work{SUFFIX}"
    planted.write_bytes(b"")

    found = importlib.machinery.PathFinder.find_spec("tiny.work", [str(tiny.root / "tiny")])

    assert found is not None and found.origin == str(planted)
    with pytest.raises(IntegrityError, match="work"):
        read_verified(tiny)


def test_planted_bytecode_would_have_run_and_is_not_read(
    tiny: InstalledPlugin, import_from: ImportFrom, source: Mapping[str, bytes], tmp_path: Path
) -> None:
    harmless = tiny.root / "tiny" / "work.py"
    evil = tmp_path / "evil.py"
    evil.write_bytes(b"import os, pathlib; pathlib.Path(os.environ['MARK']).touch()")
    cache = importlib.util.cache_from_source(str(harmless))
    py_compile.compile(
        str(evil),
        cache,
        doraise=True,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    harmless.write_bytes(b"")
    assert import_from(tiny.root, "tiny")  # the empty module ran the planted code

    package = read_verified(tiny)

    assert package.files == {**source, "tiny/work.py": b""}


def test_a_hard_link_is_accepted(tiny: InstalledPlugin, tmp_path: Path) -> None:
    os.link(tiny.root / "tiny" / "work.py", tmp_path / "cache.py")  # as uv installs

    assert read_verified(tiny).changed == ()


def test_a_site_folder_that_is_itself_a_link_is_accepted(site: Path, tmp_path: Path) -> None:
    (tmp_path / "venv").symlink_to(site)

    (plugin,) = find_plugins([tmp_path / "venv"])

    assert read_verified(plugin).digest == digest_of_tree(site, "tiny-plugin")


def test_a_single_module_is_a_package(add: Callable[..., Path], site: Path) -> None:
    add({"lone.py": b"x = 1\n"}, name="lone", plugins={"lone": "lone"})

    package = read_verified(find_plugins([site])[1])

    assert package.files == {"lone.py": b"x = 1\n"}
    (site / "lone").mkdir()
    with pytest.raises(IntegrityError, match=r"'lone' shadows 'lone\.py'"):
        read_verified(find_plugins([site])[1])


def test_what_was_removed_after_the_listing_is_refused(tiny: InstalledPlugin) -> None:
    shutil.rmtree(tiny.root / "tiny_plugin-1.0.dist-info")

    with pytest.raises(IntegrityError, match="no longer installed"):
        read_verified(tiny)


def test_a_plugin_that_was_replaced_after_the_listing_is_refused(tiny: InstalledPlugin) -> None:
    points = tiny.root / "tiny_plugin-1.0.dist-info" / "entry_points.txt"
    points.write_text("[sciharness.plugins]\nother = tiny\n")

    with pytest.raises(IntegrityError, match=r"no longer claims example\.tiny"):
        read_verified(tiny)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_refused(tiny: InstalledPlugin) -> None:
    (tiny.root / "tiny" / "work.py").chmod(0)

    with pytest.raises(IntegrityError, match=r"tiny/work\.py.* cannot be read"):
        read_verified(tiny)


def test_a_swapped_file_is_never_followed_out_of_the_package(
    tiny: InstalledPlugin, tmp_path: Path
) -> None:
    """A writer swaps a file for a link and back; every answer is the good bytes or a refusal."""
    good = read_verified(tiny).digest
    secret = tmp_path / "secret.py"
    secret.write_bytes(b"secret = 1\n")
    swapper = subprocess.Popen([sys.executable, "-c", SWAP, tiny.root / "tiny/work.py", secret])

    try:
        answers = [answer(tiny) for _ in range(300)]
    finally:
        swapper.kill()
        swapper.wait()

    assert set(answers) <= {good, "refused"}


SWAP = """
import os, sys
path, secret = sys.argv[1:]
data = open(path, 'rb').read()
while True:
    os.symlink(secret, path + '.new')
    os.rename(path + '.new', path)
    with open(secret + '.copy', 'wb') as copy:
        copy.write(data)
    os.rename(secret + '.copy', path)
"""


def answer(plugin: InstalledPlugin) -> str:
    try:
        return read_verified(plugin).digest
    except IntegrityError:
        return "refused"
