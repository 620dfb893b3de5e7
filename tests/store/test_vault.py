"""The vault: sealed files are private, unguessable and watched for changes."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sciharness.errors import DataError, IntegrityError
from sciharness.store.home import Home
from sciharness.store.vault import Vault

LABELS = b"sample_id,period\n0,1.5\n"


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    path.write_bytes(LABELS)
    return path


def test_a_sealed_file_comes_back_under_its_key(home: Home, labels: Path) -> None:
    vault = Vault(home)

    key = vault.seal({"labels.csv": labels})

    sealed = vault.path(key, "labels.csv")
    assert sealed.read_bytes() == LABELS
    assert stat.S_IMODE(sealed.stat().st_mode) == 0o400
    assert stat.S_IMODE(sealed.parent.stat().st_mode) == 0o700


def test_equal_files_get_different_keys(home: Home, labels: Path) -> None:
    vault = Vault(home)

    assert vault.seal({"a": labels}) != vault.seal({"a": labels})


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "labels.csv").unlink(),
        lambda folder: _rewrite(folder / "labels.csv", LABELS.replace(b"1.5", b"1.6")),
        lambda folder: (folder / "more.csv").write_bytes(b"x"),
        lambda folder: _rewrite(folder / "seal.json", b"{}"),
        lambda folder: (folder / "seal.json").unlink(),
    ],
    ids=["deleted", "changed", "added", "other seal", "no seal"],
)
def test_a_change_in_the_vault_is_refused(
    home: Home, labels: Path, change: Callable[[Path], object]
) -> None:
    key = Vault(home).seal({"labels.csv": labels})
    change(home.vault / key)

    with pytest.raises(IntegrityError, match="vault"):
        Vault(home).path(key, "labels.csv")


@pytest.mark.parametrize("name", ["", "..", "a/b", "seal.json"])
def test_a_sealed_file_has_a_plain_name(home: Home, labels: Path, name: str) -> None:
    with pytest.raises(DataError, match="plain name"):
        Vault(home).seal({name: labels})

    assert not list(home.vault.iterdir())
    assert not list(home.temporary.iterdir())


def test_sealing_is_all_or_nothing(home: Home, labels: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="gone.csv"):
        Vault(home).seal({"labels.csv": labels, "other.csv": tmp_path / "gone.csv"})

    assert not list(home.vault.iterdir())


@pytest.mark.parametrize("key", ["", "../objects", "g" * 32])
def test_a_key_that_is_none_leads_nowhere(home: Home, key: str) -> None:
    with pytest.raises(ValueError, match="vault key"):
        Vault(home).path(key, "labels.csv")


def test_a_key_is_kept_with_its_run_so_that_no_event_needs_it(home: Home, labels: Path) -> None:
    vault = Vault(home)
    key = vault.seal({"labels.csv": labels})

    vault.bind("r1", "data", key)

    assert vault.key_of("r1", "data") == key
    assert vault.key_of("r2", "data") is None
    assert len(vault.sealed_digests("r1")) == 1


def _rewrite(place: Path, content: bytes) -> None:
    place.chmod(0o600)
    place.write_bytes(content)
