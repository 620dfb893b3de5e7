from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciharness_catalog.errors import IntegrityError
from sciharness_catalog.metadata import parse_entry_points, parse_metadata
from sciharness_catalog.record import parse_record

GOOD = b"Metadata-Version: 2.4\nName: Some_Plugin\nVersion: 1.0.0-rc1\n"


def test_name_version_and_requirements_come_out_in_one_spelling() -> None:
    text = GOOD + b"Requires-Dist: PyYAML (>=6,<7)\nRequires-Dist: attrs\n\nName: in the text\n"

    metadata = parse_metadata(text, None, where="x")

    assert (metadata.name, metadata.version) == ("some-plugin", "1.0.0rc1")
    assert metadata.requires == ("attrs", "pyyaml<7,>=6")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"Version: 1\n", "expected one Name header, found 0"),
        (GOOD + b"Name: other\n", "expected one Name header, found 2"),
        (GOOD.replace(b"1.0.0-rc1", b"one"), "Invalid version"),
        (GOOD.replace(b"Some_Plugin", b"../x"), "name is invalid"),
        (GOOD + b"Requires-Dist: a b c\n", "a b c"),
        (GOOD + b"Summary: \xff\n", "UTF-8"),
    ],
)
def test_metadata_that_says_nothing_definite_is_refused(text: bytes, said: str) -> None:
    with pytest.raises(IntegrityError, match=said):
        parse_metadata(text, None, where="x.dist-info")


@pytest.mark.parametrize(
    "text",
    [b"a = b\n", b"[g]\na\n", b"[g]\na =\n", b"[g]\na = b\na = c\n", b"[g]\na = b\n[h]\n[g]\na=c"],
    ids=["no group", "no value", "empty", "twice", "twice apart"],
)
def test_entry_points_that_are_unclear_are_refused(text: bytes) -> None:
    with pytest.raises(IntegrityError, match="line"):
        parse_entry_points(text, where="entry_points.txt")


def test_a_record_that_names_a_path_twice_is_refused() -> None:
    with pytest.raises(IntegrityError, match="twice"):
        parse_record(b"a.py,,\na.py,,\n", where="RECORD")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for parse in (
        lambda: parse_metadata(data, data, where="x"),
        lambda: parse_metadata(GOOD, data, where="x"),
        lambda: parse_record(data, where="x"),
    ):
        with suppress(IntegrityError):
            parse()
