"""Any legal set of files comes back as it was, from a folder and from a ZIP."""

from __future__ import annotations

import io
import ntpath
import posixpath
import tempfile
import unicodedata
import zipfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.bundles import FolderLimits, RuleError, pack_folder, unpack
from sciharness.bundles.limits import check_path, check_twins
from sciharness.bundles.zip_scan import scan_zip, unpack_zip


def _is_name(text: str) -> bool:
    if text in (".", "..") or len(text.encode()) > 200 or text[1:2] == ":":
        return False
    return all(unicodedata.category(one) not in ("Cc", "Cs") for one in text)


NAMES = st.text(
    st.characters(exclude_characters="/\\", exclude_categories=("Cs", "Cc")), min_size=1, max_size=8
).filter(_is_name)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
FILES = st.dictionaries(PATHS, st.binary(max_size=600), min_size=1, max_size=6)


def usable(files: dict[str, bytes]) -> bool:
    """Whether no path is a folder of another and no two are one on other systems."""
    folders = {path[:at] for path in files for at, mark in enumerate(path) if mark == "/"}
    try:
        for path in files:
            check_path(path)
        check_twins(files)
    except RuleError:
        return False
    return not folders.intersection(files)


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files beneath a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@settings(max_examples=40, deadline=None, derandomize=True)
@given(FILES.filter(usable))
def test_a_folder_comes_back(files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        given_folder = Path(scratch, "given")
        for path, content in files.items():
            (given_folder / path).parent.mkdir(parents=True, exist_ok=True)
            (given_folder / path).write_bytes(content)
        archive = Path(scratch, "bundle")
        with archive.open("wb") as sink:
            packed = pack_folder(given_folder, sink, FolderLimits())
        unpack(archive, Path(scratch, "again"))
        assert contents(Path(scratch, "again")) == files
        again = io.BytesIO()
        assert pack_folder(Path(scratch, "again"), again, FolderLimits()) == packed


@settings(max_examples=40, deadline=None, derandomize=True)
@given(FILES.filter(usable), st.sampled_from((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
def test_a_zip_comes_back(files: dict[str, bytes], method: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        archive = Path(scratch, "given.zip")
        with zipfile.ZipFile(archive, "w", method) as made:
            for path, content in files.items():
                made.writestr(path, content)
        with archive.open("rb") as stream:
            assert scan_zip(stream.fileno()).flaws == ()
        unpack_zip(archive, Path(scratch, "again"))
        assert contents(Path(scratch, "again")) == files


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text(max_size=40))
def test_a_path_that_passes_stays_beneath_its_folder(path: str) -> None:
    try:
        check_path(path)
    except RuleError:
        return
    for flavour in (posixpath, ntpath):
        joined = flavour.normpath(flavour.join("root", path))
        assert joined.startswith("root" + flavour.sep)
