from __future__ import annotations

import stat
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sciharness_catalog.errors import IntegrityError
from sciharness_catalog.wheels import digest_of_wheel, read_wheel

MakeWheel = Callable[..., Path]


def add_member(wheel: Path, name: str, data: bytes = b"", mode: int = stat.S_IFREG | 0o644) -> None:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = mode << 16
    with warnings.catch_warnings(), zipfile.ZipFile(wheel, "a") as archive:
        warnings.simplefilter("ignore")  # zipfile only warns of a name that is there twice
        archive.writestr(entry, data)


def test_a_wheel_gives_its_import_packages_only(
    make_wheel: MakeWheel, source: Mapping[str, bytes]
) -> None:
    extra = {"tiny_plugin-1.0.data/scripts/run": b"#!python\n", "notes.txt": b"not importable"}

    wheel = read_wheel(make_wheel({**source, **extra}))

    assert wheel.files == source


def test_a_purelib_folder_counts_as_what_it_installs(
    make_wheel: MakeWheel, source: Mapping[str, bytes]
) -> None:
    plain = digest_of_wheel(make_wheel(source))
    moved = {f"tiny_plugin-1.0.data/purelib/{name}": data for name, data in source.items()}

    assert digest_of_wheel(make_wheel(moved)) == plain


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tiny/work.py", "there twice"),
        ("tiny/extra.py", "not listed in RECORD"),
        ("../evil.py", "not a plain relative path"),
        ("/evil.py", "not a plain relative path"),
        ("tiny//evil.py", "not a plain relative path"),
        ("tiny\\evil.py", "not a plain relative path"),
        ("C:evil.py", "not a plain relative path"),
        ("evil.pth", "every interpreter start"),
        ("tiny/Work.py", "differ only in spelling"),
        ("tiny/work.so", "shadows"),
        ("tiny/work/__init__.py", "shadows"),
        ("tiny.py", "shadows"),
        ("tiny/old.pyc", "bytecode without source"),
        ("tiny/bell\x07.py", "no file name may have"),
        ("other-1.dist-info/METADATA", "one .dist-info folder"),
    ],
)
def test_a_member_that_must_not_be_there_is_refused(
    make_wheel: MakeWheel, source: Mapping[str, bytes], name: str, said: str
) -> None:
    wheel = make_wheel(source)
    add_member(wheel, name)

    with pytest.raises(IntegrityError, match=said):
        read_wheel(wheel)


def test_a_name_that_zipfile_would_cut_at_nul_is_refused(
    make_wheel: MakeWheel, source: Mapping[str, bytes]
) -> None:
    wheel = make_wheel(source)
    add_member(wheel, "tiny/nul@.txt")
    wheel.write_bytes(wheel.read_bytes().replace(b"tiny/nul@.txt", b"tiny/nul\0.txt"))

    with pytest.raises(IntegrityError, match="no file name may have"):
        read_wheel(wheel)


def test_a_link_is_refused(make_wheel: MakeWheel, source: Mapping[str, bytes]) -> None:
    wheel = make_wheel(source)
    add_member(wheel, "tiny/link.py", b"/etc/passwd", stat.S_IFLNK | 0o777)

    with pytest.raises(IntegrityError, match=r"'tiny/link\.py' is a link"):
        read_wheel(wheel)


@pytest.mark.parametrize("place", [0, 5], ids=["an empty name", "a name cut to a folder's"])
def test_a_name_with_a_nul_is_refused(
    make_wheel: MakeWheel, source: Mapping[str, bytes], place: int
) -> None:
    wheel = make_wheel(source)
    add_member(wheel, "tiny/xmore.py", b"import tiny.work\n", stat.S_IFREG | 0o644)
    data = wheel.read_bytes()
    at = data.rindex(b"tiny/xmore.py") + place  # in the central directory
    wheel.write_bytes(data[:at] + b"\0" + data[at + 1 :])

    with pytest.raises(IntegrityError, match="no file name may have"):
        read_wheel(wheel)


def test_a_bomb_is_refused_before_it_is_unpacked(
    make_wheel: MakeWheel, source: Mapping[str, bytes]
) -> None:
    wheel = make_wheel(source)
    data = wheel.read_bytes()
    start = data.rindex(b"PK\x01\x02")  # the size that the last central entry claims
    wheel.write_bytes(data[: start + 24] + b"\xff\xff\xff\x7f" + data[start + 28 :])

    with pytest.raises(IntegrityError, match="bytes when unpacked"):
        read_wheel(wheel)


def test_a_wheel_without_a_package_is_refused(make_wheel: MakeWheel) -> None:
    with pytest.raises(IntegrityError, match="no import package"):
        read_wheel(make_wheel({}))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_wheel_is_refused_or_reads_the_same(
    make_wheel: MakeWheel, source: Mapping[str, bytes], data: st.DataObject
) -> None:
    wheel = make_wheel(source)
    good, digest = wheel.read_bytes(), digest_of_wheel(wheel)
    place = data.draw(st.integers(0, len(good) - 1))
    byte = data.draw(st.integers(0, 255))
    cut = data.draw(st.sampled_from([len(good), place]))
    wheel.write_bytes((good[:place] + bytes([byte]) + good[place + 1 :])[:cut])

    try:
        found = digest_of_wheel(wheel)
    except IntegrityError:
        return
    assert found == digest


def test_a_wheel_whose_list_of_members_is_elsewhere_is_refused(
    make_wheel: MakeWheel, source: Mapping[str, bytes]
) -> None:
    wheel = make_wheel(source)
    data = wheel.read_bytes()
    third = data.rindex(b"PK\x05\x06") + 18  # of the bytes that say where the list starts
    wheel.write_bytes(data[:third] + b"\x01" + data[third + 1 :])

    with pytest.raises(IntegrityError, match="not a readable wheel"):
        read_wheel(wheel)


def test_junk_is_no_wheel(tmp_path: Path) -> None:
    path = tmp_path / "x-1-py3-none-any.whl"
    path.write_bytes(b"PK\x05\x06" + b"\x00" * 18)

    with pytest.raises(IntegrityError):
        read_wheel(path)
