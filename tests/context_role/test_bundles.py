"""Folders as archives and back: the same bytes for the same files, and nothing else accepted."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sciharness.bundles import FolderLimits, Survey, pack_folder, unpack
from sciharness.contract.inputs import input_facts
from sciharness.errors import DataError, IntegrityError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with odd but legal files."""
    root = tmp_path / "folder"
    (root / "b" / "deep").mkdir(parents=True)
    (root / "b" / "deep" / "data.bin").write_bytes(os.urandom(100_000))
    (root / "b.txt").write_text("before b/ by its bytes\n")
    (root / "Ångström µ.txt").write_text("x")
    (root / "empty").write_bytes(b"")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o700)
    return root


@pytest.fixture
def pack(tmp_path: Path) -> Callable[[Path], Path]:
    """Pack a folder into an archive beside it."""

    def run(source: Path, name: str = "bundle.tar") -> Path:
        with (tmp_path / name).open("wb") as sink:
            pack_folder(source, sink)
        return tmp_path / name

    return run


def contents(root: Path) -> dict[str, tuple[bytes, bool]]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {
        str(path.relative_to(root)): (path.read_bytes(), os.access(path, os.X_OK)) for path in files
    }


def test_it_comes_back_as_it_was(folder: Path, pack: Callable[..., Path], tmp_path: Path) -> None:
    unpack(pack(folder), tmp_path / "again")

    assert contents(tmp_path / "again") == contents(folder)
    assert input_facts("x", tmp_path / "again").sha256 == input_facts("x", folder).sha256


def test_any_tar_reads_it(folder: Path, pack: Callable[..., Path]) -> None:
    with tarfile.open(pack(folder)) as archive:
        names = archive.getnames()

    assert names == ["b.txt", "b/deep/data.bin", "empty", "run.sh", "Ångström µ.txt"]


def test_the_same_files_give_the_same_bytes(
    folder: Path, pack: Callable[..., Path], tmp_path: Path
) -> None:
    twin = tmp_path / "twin"
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file():
            place = twin / path.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())
            place.chmod(path.stat().st_mode | 0o022)
            os.utime(place, (1, 1))
    (twin / "no files here").mkdir()

    assert pack(twin, "twin.tar").read_bytes() == pack(folder).read_bytes()


def test_packing_gives_the_digest_that_inputs_have(folder: Path) -> None:
    packed = pack_folder(folder, io.BytesIO())

    facts = input_facts("x", folder)
    assert (packed.sha256, packed.size, packed.files) == (facts.sha256, facts.bytes, 5)


def test_what_is_unpacked_can_only_be_read(
    folder: Path, pack: Callable[..., Path], tmp_path: Path
) -> None:
    unpack(pack(folder), tmp_path / "again")

    modes = {path.stat().st_mode & 0o222 for path in (tmp_path / "again").rglob("*.txt")}
    assert modes == {0}


def test_long_paths_and_many_levels_come_back(pack: Callable[..., Path], tmp_path: Path) -> None:
    deep = Path(*(f"{level:02}" + "n" * 28 for level in range(31)))
    (tmp_path / "long" / deep).mkdir(parents=True)
    (tmp_path / "long" / deep / ("é" * 20)).write_text("far down")

    unpack(pack(tmp_path / "long"), tmp_path / "again")

    assert contents(tmp_path / "again") == contents(tmp_path / "long")


@pytest.mark.parametrize("kind", ["link", "folder link", "pipe"])
def test_links_and_special_files_are_not_packed(folder: Path, kind: str) -> None:
    secret = folder.parent / "secret"
    secret.mkdir()
    (secret / "key").write_text("secret")
    if kind == "link":
        (folder / "key").symlink_to(secret / "key")
    elif kind == "folder link":
        (folder / "keys").symlink_to(secret)
    else:
        os.mkfifo(folder / "pipe")
    sink = io.BytesIO()

    with pytest.raises(DataError, match=r"is a link|is no regular file"):
        pack_folder(folder, sink)
    assert b"secret" not in sink.getvalue()


def test_a_file_swapped_for_a_link_is_not_followed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = folder.parent / "key"
    secret.write_text("secret")
    from sciharness.bundles import pack as module

    walk = module.survey_opened

    def swapped(root: int, limits: FolderLimits | None) -> Survey:
        found = walk(root, limits)
        (folder / "b.txt").unlink()
        (folder / "b.txt").symlink_to(secret)
        return found

    monkeypatch.setattr(module, "survey_opened", swapped)

    with pytest.raises(DataError, match=r"b\.txt cannot be read"):
        pack_folder(folder, io.BytesIO())


def test_a_file_that_grows_meanwhile_is_noticed(folder: Path) -> None:
    class Growing(io.BytesIO):
        def write(self, data: object) -> int:
            with (folder / "b.txt").open("a") as stream:
                stream.write("more\n")
            return super().write(data)  # type: ignore[arg-type]

    with pytest.raises(DataError, match="changed while it was being read"):
        pack_folder(folder, Growing())


def made(
    *members: tuple[str, bytes, bytes],
    form: int = tarfile.PAX_FORMAT,
    end: int = 2,
    owner: int = 0,
) -> bytes:
    """Write members (name, type, content) as other programs would."""
    parts = []
    for name, kind, content in members:
        info = tarfile.TarInfo(name)
        info.type, info.uid = kind, owner
        if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            info.linkname = content.decode()
            content = b""
        info.size = len(content)
        parts += [info.tobuf(form, "utf-8", "strict"), content, bytes(-len(content) % 512)]
    return b"".join(parts) + bytes(512 * end)


FILE = tarfile.REGTYPE
ONE = ("a.txt", FILE, b"text")
HOSTILE = {
    "nothing": b"",
    "text": b"no archive at all" * 100,
    "above": made(("../escaped", FILE, b"x")),
    "above inside": made(("a/../../escaped", FILE, b"x")),
    "absolute": made(("/escaped", FILE, b"x")),
    "link": made(("escaped", tarfile.SYMTYPE, b"/etc/hostname")),
    "link as folder": made(("z", tarfile.SYMTYPE, b".."), ("z/escaped", FILE, b"x")),
    "hard link": made(ONE, ("b.txt", tarfile.LNKTYPE, b"/etc/hostname")),
    "device": made(("null", tarfile.CHRTYPE, b"")),
    "pipe": made(("pipe", tarfile.FIFOTYPE, b"")),
    "folder": made(("folder", tarfile.DIRTYPE, b"")),
    "twice": made(ONE, ONE),
    "order": made(("b.txt", FILE, b""), ONE),
    "file as folder": made(("a", FILE, b"x"), ("a/b", FILE, b"x")),
    "other format": made(("é" * 60, FILE, b"x"), form=tarfile.GNU_FORMAT),
    "one end block": made(ONE, end=1),
    "three end blocks": made(ONE, end=3),
    "no end": made(ONE, end=0),
    "cut": made(("a.txt", FILE, bytes(5000)))[:2000],
    "filler": made(ONE).replace(b"text\0", b"text!"),
    "after the end": made(ONE) + b"x",
    "more after the end": made(ONE) + made(("b.txt", FILE, b"x")),
    "owner": made(ONE, owner=1),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_anything_else_is_refused_and_nothing_leaves_the_folder(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "bundle.tar").write_bytes(content)

    with pytest.raises((IntegrityError, DataError)):
        unpack(tmp_path / "bundle.tar", tmp_path / "again")
    assert {path.name for path in tmp_path.iterdir()} == {"bundle.tar", "again"}
    assert not any(path.is_symlink() for path in (tmp_path / "again").rglob("*"))


def test_the_plain_one_of_these_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "bundle.tar").write_bytes(made(ONE))

    unpack(tmp_path / "bundle.tar", tmp_path / "again")

    assert (tmp_path / "again" / "a.txt").read_text() == "text"


def test_a_folder_in_the_way_stays_as_it_is(
    folder: Path, pack: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "again").mkdir()

    with pytest.raises(DataError, match="cannot be made"):
        unpack(pack(folder), tmp_path / "again")
    assert list((tmp_path / "again").iterdir()) == []
