"""Artifacts: bytes go in once, durably, and are what they claim to be."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from sciharness.errors import DataError, IntegrityError
from sciharness.store.artifacts import ArtifactStore, Blob, artifact_id
from sciharness.store.errors import DiskFullError, StorageError
from sciharness.store.home import Home

CONTENT = bytes(range(256)) * 4096


@pytest.fixture
def store(home: Home) -> ArtifactStore:
    return ArtifactStore(home)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_bytes(CONTENT)
    return path


def test_a_file_is_stored_under_its_digest_read_only(
    home: Home, store: ArtifactStore, file: Path
) -> None:
    digest = sha256(CONTENT).hexdigest()

    blob = store.ingest(file)

    assert blob == Blob(digest, len(CONTENT))
    place = home.objects / digest[:2] / digest
    assert store.path(digest, verified=True) == place
    assert place.read_bytes() == CONTENT
    assert stat.S_IMODE(place.stat().st_mode) == 0o444
    assert not list(home.temporary.iterdir())


def test_bytes_and_files_meet_in_one_object(store: ArtifactStore, file: Path) -> None:
    first = store.ingest_bytes(CONTENT)
    inode = store.path(first.sha256).stat().st_ino

    assert store.ingest(file) == first
    assert store.path(first.sha256).stat().st_ino == inode


@pytest.mark.parametrize(
    "damage",
    [
        lambda place: _rewrite(place, b""),
        lambda place: _rewrite(place, CONTENT[:-1]),
        lambda place: _rewrite(place, b"?" + CONTENT[1:]),
        lambda place: (place.unlink(), place.symlink_to("/etc/hostname")),
        lambda place: place.unlink(),
    ],
    ids=["emptied", "cut", "altered", "replaced by a link", "deleted"],
)
def test_a_damaged_object_is_noticed_at_use_and_repaired_by_the_same_bytes(
    store: ArtifactStore, file: Path, damage: Callable[[Path], object]
) -> None:
    digest = store.ingest(file).sha256
    damage(store.path(digest))

    with pytest.raises(IntegrityError, match=digest[:12]):
        store.path(digest, verified=True)

    store.ingest(file)
    assert store.path(digest, verified=True).read_bytes() == CONTENT


def test_what_is_over_the_limit_leaves_nothing(
    home: Home, store: ArtifactStore, file: Path
) -> None:
    with pytest.raises(DataError, match=r"table.csv: is larger than the limit of 1000 bytes"):
        store.ingest(file, limit=1000)

    assert not list(home.temporary.iterdir())
    assert not list(home.objects.iterdir())


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "nothing"])
def test_only_regular_files_are_taken(store: ArtifactStore, tmp_path: Path, kind: str) -> None:
    place = tmp_path / "odd"
    make = {"folder": place.mkdir, "pipe": lambda: os.mkfifo(place), "nothing": lambda: None}
    make["link"] = lambda: place.symlink_to("/etc/hostname")
    make[kind]()

    with pytest.raises(DataError, match="odd"):
        store.ingest(place)


def test_a_link_is_followed_where_that_was_asked_for(
    store: ArtifactStore, file: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(file)

    assert store.ingest(tmp_path / "link", follow=True).size == len(CONTENT)


def test_a_file_that_changes_while_it_is_read_is_refused(
    home: Home, store: ArtifactStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = os.readv

    def read_and_append(handle: int, buffers: list[memoryview]) -> int:
        count = read(handle, buffers)
        with file.open("ab") as other:
            other.write(b"more")
            # The size tells even where the clock of the file system is coarse.
        monkeypatch.setattr(os, "readv", read)
        return count

    monkeypatch.setattr(os, "readv", read_and_append)
    with pytest.raises(DataError, match="changed while it was read"):
        store.ingest(file)

    assert not [path for path in home.objects.rglob("*") if path.is_file()]


def test_a_file_that_shrinks_while_it_is_read_is_refused(
    home: Home, store: ArtifactStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = os.readv

    def read_and_cut(handle: int, buffers: list[memoryview]) -> int:
        count = read(handle, buffers)
        os.truncate(file, 100)
        return count

    monkeypatch.setattr(os, "readv", read_and_cut)
    with pytest.raises(DataError, match="changed while it was read"):
        store.ingest(file)

    assert not [path for path in home.objects.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("code", "kind"), [(errno.EIO, StorageError), (errno.ENOSPC, DiskFullError)]
)
@pytest.mark.parametrize("step", ["fsync", "write", "link"])
def test_a_failing_disk_is_never_reported_as_success(
    home: Home,
    store: ArtifactStore,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    code: int,
    kind: type[StorageError],
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(kind, match="objects"):
            store.ingest(file)

    assert not list(home.temporary.iterdir())
    assert store.ingest(file).size == len(CONTENT)


def test_a_file_system_without_hard_links_is_good_enough(
    store: ArtifactStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)

    assert store.path(store.ingest(file).sha256, verified=True).read_bytes() == CONTENT


@pytest.mark.parametrize("digest", ["", "../../harness.db", "A" * 64, "a" * 63])
def test_a_digest_that_is_none_leads_nowhere(store: ArtifactStore, digest: str) -> None:
    with pytest.raises(ValueError, match="64 lower-case hex digits"):
        store.path(digest)


def test_an_artifact_id_depends_on_what_it_is_made_of_and_on_nothing_else() -> None:
    given = ("model", "model.json", "a" * 64, 3)

    ids = {
        artifact_id(*given),
        artifact_id(*given),
        artifact_id("other", *given[1:]),
        artifact_id(given[0], "other", *given[2:]),
        artifact_id(*given[:2], "b" * 64, 3),
        artifact_id(*given[:3], 4),
    }

    assert len(ids) == 5
    assert all(len(id) == 64 for id in ids)


def _rewrite(place: Path, content: bytes) -> None:
    place.chmod(0o644)
    place.write_bytes(content)
