"""Manifests that are no strict JSON: an error that says so, never another exception."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sciharness.contextdata import ContextManifestError, inspect_context_data, load_context_data


@pytest.fixture
def no_limit_of_digits() -> Iterator[None]:
    """Let Python convert integers of any length."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    yield
    sys.set_int_max_str_digits(limit)


def errors_of(path: Path) -> list[str]:
    errors: list[str] = inspect_context_data(path)["errors"]
    with pytest.raises(ContextManifestError):
        load_context_data(path)
    return errors


BYTES = {
    "empty": (b"", "manifest.json:1:1: expected JSON, found Expecting value"),
    "BOM": (b"\xef\xbb\xbf{}", "a UTF-8 byte order mark. Save it as UTF-8 without BOM"),
    "UTF-16": ("{}".encode("utf-16"), "UTF-8 without byte order mark, found UTF-16"),
    "UTF-16 without BOM": ("{}".encode("utf-16-le"), "expected UTF-8, found UTF-16 or UTF-32"),
    "UTF-32": ("{}".encode("utf-32-be"), "expected UTF-8, found UTF-16 or UTF-32"),
    "bad UTF-8": (b'{"a": "\xff"}', "expected UTF-8, found byte 0xff at offset 7"),
    "half an object": (b'{"variables": {', "manifest.json:1:16: expected JSON"),
    "two objects": (b"{} {}", "manifest.json:1:4: expected JSON, found Extra data"),
    "comment": (b"{ // none\n}", "manifest.json:1:3: expected JSON"),
    "comma at the end": (b'{"axes": {},}', "expected JSON"),
    "control character": (b'{"a": "x\ny"}', "Invalid control character"),
    "root is a list": (b"[]", "expected a JSON object as root, found an array of 0"),
    "root is a number": (b"3", "expected a JSON object as root, found 3"),
    "root is NaN": (b"NaN", "expected a finite number, found NaN"),
    "deep list": (b"[" * 200_000, "nesting too deep to read"),
    "deep object": (b'{"a":' * 200_000, "nesting too deep to read"),
}


@pytest.mark.parametrize(("raw", "words"), BYTES.values(), ids=list(BYTES))
def test_text_that_is_no_strict_json(tmp_path: Path, raw: bytes, words: str) -> None:
    (tmp_path / "manifest.json").write_bytes(raw)

    (error,) = errors_of(tmp_path)

    assert words in error


EDITS = {
    "NaN": ('"num_nodes": 4', '"num_nodes": NaN', "num_nodes: expected a finite number, found NaN"),
    "Infinity": ("0.5", "-Infinity", "axes.time.values[1]: expected a finite number, found -Inf"),
    "too large": ("0.5", "1e999", "axes.time.values[1]: expected a number that a float holds"),
    "digits": ('"num_nodes": 4', '"num_nodes": ' + "1" * 5000, "num_nodes: expected an integer of"),
    "digits of a label": ("0.5", "1" * 5000, "axes.time.values[1]: expected an integer of at most"),
    "key twice": (
        '"num_nodes": 4',
        '"num_nodes": 4, "num_nodes": 4',
        "num_nodes: expected each key",
    ),
    "field twice": ('"size": 5', '"size": 5, "size": 6', "axes.edge.size: expected each key once"),
    "variable twice": (
        '"variables": {',
        '"variables": {"g": {"file": "g.npy", "description": "", "axes": []}, ',
        "variables.g: expected each key once",
    ),
    "section twice": (
        '"axes": {"time"',
        '"axes": {}, "axes": {"time"',
        "axes: expected each key once",
    ),
    "unknown key twice": (
        '"num_nodes": 4',
        '"num_nodes": 4, "x": 1, "x": 2',
        "x: expected each key",
    ),
    "half a pair": (
        '"A scalar."',
        r'"\ud83d"',
        "variables.g.description: expected text that UTF-8",
    ),
    "half a pair in a key": ('"num_nodes": 4', r'"num_nodes": 4, "\udfff": 1', "'\\udfff'"),
}


@pytest.mark.parametrize(("old", "new", "words"), EDITS.values(), ids=list(EDITS))
def test_a_flaw_is_told_with_its_place_and_nothing_follows_from_it(
    network: Any, old: str, new: str, words: str
) -> None:
    network.axes["time"] = {"values": [0.0, 0.5, 1.0], "description": ""}
    del network.arrays["time"]
    path = network.write()
    text = (path / "manifest.json").read_text("utf-8")
    assert old in text
    (path / "manifest.json").write_text(text.replace(old, new, 1), encoding="utf-8")

    (error,) = errors_of(path)

    assert words in error


def test_flaws_hide_no_fault_elsewhere(network: Any) -> None:
    network.variables["mass"]["axes"] = ["nodes"]
    path = network.write()
    text = (path / "manifest.json").read_text("utf-8").replace('"size": 5', '"size": NaN', 1)
    (path / "manifest.json").write_text(text, encoding="utf-8")

    errors = errors_of(path)

    assert len(errors) == 2
    assert "axes.edge.size" in errors[0]
    assert "'nodes'" in errors[1]


@pytest.mark.parametrize(
    "text",
    [r"say \"x\": 1", "Unit: m", "a\\u003a b", "\\ud83d\\ude00", "µ", "x  :  y", ""],
    ids=["quoted key", "colon", "escaped colon", "whole pair", "micro", "spaces", "empty"],
)
def test_texts_that_look_like_keys_are_no_flaw(network: Any, text: str) -> None:
    path = network.write()
    manifest = (path / "manifest.json").read_text("utf-8").replace("A scalar.", text, 1)
    (path / "manifest.json").write_text(manifest, encoding="utf-8")

    report = inspect_context_data(path)

    assert report["errors"] == []
    assert report["variables"]["g"]["description"] == json.loads(f'"{text}"')


@pytest.mark.parametrize("layout", [{"indent": 2}, {"separators": (" ,\n", "\t:\r\n")}, {}])
def test_layout_does_not_matter_and_hides_no_key(network: Any, layout: dict[str, Any]) -> None:
    path = network.write()
    network.manifest["variables"]["g"]["axis"] = []
    text = json.dumps(network.manifest, **layout)

    (path / "manifest.json").write_text(text.replace('"axis"', '"axes"'), encoding="utf-8")

    (error,) = errors_of(path)
    assert "variables.g.axes: expected each key once" in error


def test_a_manifest_beyond_the_bound_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "manifest.json").open("wb") as file:
        file.truncate(2**40)

    (error,) = errors_of(tmp_path)

    assert "expected at most 268435456 bytes, found 1099511627776 bytes" in error


def test_integers_of_any_length_are_compared_where_python_allows_them(network: Any) -> None:
    network.manifest["num_nodes"] = 10**4000

    assert inspect_context_data(network.write())["valid"]


def test_digits_beyond_the_limit_are_no_error_where_there_is_none(
    network: Any, no_limit_of_digits: None
) -> None:
    path = network.write()
    text = (path / "manifest.json").read_text("utf-8")
    text = text.replace('"num_nodes": 4', '"num_nodes": ' + "7" * 5000)
    (path / "manifest.json").write_text(text, encoding="utf-8")

    assert inspect_context_data(path)["errors"] == []


@pytest.mark.parametrize("call", [inspect_context_data, load_context_data])
def test_a_manifest_that_is_no_text_at_all(tmp_path: Path, call: Callable[[Path], Any]) -> None:
    (tmp_path / "manifest.json").write_bytes(bytes(range(256)) * 100)

    if call is load_context_data:
        with pytest.raises(ContextManifestError):
            call(tmp_path)
    else:
        assert len(call(tmp_path)["errors"]) == 1
