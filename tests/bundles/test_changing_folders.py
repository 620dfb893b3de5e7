"""Folders that change while they are packed: a snapshot that never was is never taken."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sciharness.bundles import FolderLimits, RuleError, pack_folder, survey, unpack
from sciharness.errors import HarnessError, IntegrityError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three files that say the same."""
    place = tmp_path / "chosen"
    (place / "inner").mkdir(parents=True)
    for name in ("a", "inner/b", "z"):
        (place / name).write_text("one" * 1000)
    return place


def _old_time(path: Path, change: Callable[[], object]) -> None:
    before = path.stat()
    change()
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: dict[str, Callable[[Path], object]] = {
    "append": lambda place: (place / "z").open("a").write("more"),
    "truncate": lambda place: os.truncate(place / "z", 5),
    "same length": lambda place: (place / "z").write_text("two" * 1000),
    "same length, old time": lambda place: _old_time(
        place / "a", lambda: (place / "a").write_text("two" * 1000)
    ),
    "replace": lambda place: os.replace(place / "inner/b", place / "a"),
    "rename": lambda place: os.rename(place / "a", place / "c"),
    "rename a folder": lambda place: os.rename(place / "inner", place / "other"),
    "remove": lambda place: (place / "a").unlink(),
    "add": lambda place: (place / "new").touch(),
    "add before": lambda place: (place / "Z").touch(),
    "executable": lambda place: (place / "a").chmod(0o755),
    "link": lambda place: ((place / "z").unlink(), (place / "z").symlink_to("/etc/passwd")),
}


class _Changing(io.BytesIO):
    """A sink that changes the folder once, when the first content of a file arrives."""

    def __init__(self, change: Callable[[], object]) -> None:
        super().__init__()
        self.change = change
        self.writes = 0

    def write(self, data: object) -> int:
        self.writes += 1
        if self.writes == 2:
            self.change()
        return super().write(data)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CHANGES)
def test_any_change_while_it_is_read_is_noticed(name: str, folder: Path) -> None:
    with pytest.raises(HarnessError) as caught:
        pack_folder(folder, _Changing(lambda: CHANGES[name](folder)))
    said = str(caught.value)
    assert "changed" in said or "cannot be read" in said or "is a link" in said


WRITER = """
import os, sys, time
place = sys.argv[1]
word = 0
print("ready", flush=True)
while True:
    word += 1
    for name in ("a", "inner/b", "z"):  # a reader may see them only all alike
        with open(os.path.join(place, name), "r+") as file:
            file.write(f"{word:09d}" * 200)
    time.sleep(0.004)
"""


def test_files_that_are_written_together_are_never_packed_half_old(folder: Path) -> None:
    for name in ("a", "inner/b", "z"):
        (folder / name).write_text(f"{0:09d}" * 200)
    taken = refused = 0
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        for _ in range(200):
            sink = io.BytesIO()
            try:
                pack_folder(folder, sink)
            except RuleError:
                refused += 1
                continue
            taken += 1
            sink.seek(0)
            with tarfile.open(fileobj=sink) as archive:
                texts = {archive.extractfile(one).read() for one in archive}  # type: ignore[union-attr]
            # Each file alone is whole, and the three were never rewritten in between.
            assert all(len({text[i : i + 9] for i in range(0, 1800, 9)}) == 1 for text in texts)
            assert len(texts) <= 2
        writer.kill()
    assert taken + refused == 200


STORED: dict[str, Callable[[bytearray], object]] = {
    "flip content": lambda raw: raw.__setitem__(600, raw[600] ^ 1),
    "flip name": lambda raw: raw.__setitem__(0, raw[0] ^ 1),
    "flip mode": lambda raw: raw.__setitem__(104, raw[104] ^ 1),
    "flip size": lambda raw: raw.__setitem__(134, raw[134] ^ 1),
    "flip kind": lambda raw: raw.__setitem__(156, ord("2")),
    "flip owner": lambda raw: raw.__setitem__(110, raw[110] ^ 1),
    "flip padding": lambda raw: raw.__setitem__(4000, 1),
    "cut": lambda raw: raw.__delitem__(slice(len(raw) - 700, len(raw))),
    "cut the end": lambda raw: raw.__delitem__(slice(len(raw) - 512, len(raw))),
    "append": lambda raw: raw.extend(bytes(512)),
    "empty": lambda raw: raw.clear(),
    "swap": lambda raw: raw.__setitem__(slice(0, 512), raw[3584 : 3584 + 512]),
}


@pytest.mark.parametrize("name", STORED)
def test_a_stored_bundle_that_was_altered_is_not_used(
    name: str, folder: Path, tmp_path: Path
) -> None:
    sink = io.BytesIO()
    packed = pack_folder(folder, sink)
    raw = bytearray(sink.getvalue())
    STORED[name](raw)
    (tmp_path / "b.tar").write_bytes(raw)
    try:
        unpack(tmp_path / "b.tar", tmp_path / "out")
    except (IntegrityError, HarnessError):
        return
    # What the archive's structure cannot show, the digest of what came out does.
    from sciharness.contract.inputs import input_facts

    assert input_facts("out", tmp_path / "out").sha256 != packed.sha256


def test_executable_bits_survive(folder: Path, tmp_path: Path) -> None:
    (folder / "a").chmod(0o754)
    with (tmp_path / "b.tar").open("wb") as sink:
        pack_folder(folder, sink, FolderLimits())
    unpack(tmp_path / "b.tar", tmp_path / "out")
    modes = {name: (tmp_path / "out" / name).stat().st_mode & 0o111 for name in ("a", "z")}
    assert modes["a"] and not modes["z"]


def test_a_survey_counts_without_reading(folder: Path) -> None:
    os.chmod(folder / "a", 0)
    found = survey(folder, FolderLimits())
    assert (len(found.members), found.size) == (3, 9000)


def test_an_input_of_a_contract_keeps_names_that_an_attachment_may_not_have(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "T:mean.npy").write_text("a variable")
    with (tmp_path / "b.tar").open("wb") as sink:
        pack_folder(folder, sink)
    unpack(tmp_path / "b.tar", tmp_path / "out")
    assert (tmp_path / "out" / "T:mean.npy").read_text() == "a variable"
    with pytest.raises(RuleError, match="rule: path"):
        pack_folder(folder, io.BytesIO(), FolderLimits())
