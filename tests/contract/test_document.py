from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from sciharness.contract.document import load_document, parse_document, parse_value
from sciharness.errors import ContractError


def faults_of(text: str, name: str = "c.yaml") -> str:
    with pytest.raises(ContractError) as caught:
        parse_document(text, name)
    assert caught.value.problems
    return "\n".join(str(problem) for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("012", 12),
        ("0o14", 12),
        ("0x1F", 31),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2001-01-01", "2001-01-01"),
        ("2001-01-01 10:00:00", "2001-01-01 10:00:00"),
        ("0b11", "0b11"),
        ("+3", 3),
        ("-0.5", -0.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("1e-3", 0.001),
        ("3.0", 3.0),
        ("true", True),
        ("True", True),
        ("tRue", "tRue"),
        ("null", None),
        ("~", None),
        ("", None),
        ("=", "="),
        ("<<", "<<"),
        ('"1"', "1"),
        ("'true'", "true"),
        ("1h30m", "1h30m"),
        ("١٢", "١٢"),
    ],
)
def test_plain_words_mean_what_yaml_1_2_says(word: str, value: object) -> None:
    read = parse_document(f"key: {word}\n").value["key"]

    assert read == value
    assert type(read) is type(value)


def test_every_key_and_value_has_its_place() -> None:
    text = 'ä: "öü"\nb:\n  - x: 1\n    y: [2, {z: 3}]\n'

    document = parse_document(text)

    assert document.keys[("ä",)] == (1, 1)
    assert document.place(("ä",)) == (1, 4)
    assert document.place(("b", 0, "y", 1, "z")) == (4, 16)
    assert document.key_place(("b", 0, "y")) == (4, 5)


def test_a_missing_place_is_that_of_the_nearest_parent() -> None:
    document = parse_document("a:\n  b: 1\n")

    assert document.place(("a", "c", "d")) == (2, 3)


def test_json_has_the_same_values_and_its_own_places() -> None:
    text = '{\n "a": [1, 2.5e1,\n  true], "b": {"c": "x\\u00e4"}}'

    document = parse_document(text, "c.json")

    assert document.value == {"a": [1, 25.0, True], "b": {"c": "xä"}}
    assert document.place(("a", 2)) == (3, 3)
    assert document.key_place(("b", "c")) == (3, 16)


def test_json_is_recognised_by_its_content() -> None:
    document = parse_document('{"a": "\\ud83d\\ude00"}', "c.yaml")

    assert document.value == {"a": "\U0001f600"}


def test_a_flow_mapping_is_read_as_yaml() -> None:
    assert parse_document("{a: yes, b: [1]}", "c.yaml").value == {"a": "yes", "b": [1]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: &x 1\nb: *x\n", "alias"),
        ("a: &x 1\n", "anchor"),
        ("a: !!python/object/new:os.system [ls]\n", "tag"),
        ("a: ! text\n", "tag"),
        ("a: 1\nb: 2\na: 3\n", "first set on line 1"),
        ("a: {b: 1, b: 2}\n", "a second time"),
        ("a: 1\n---\nb: 2\n", "second document"),
        ("a: 1\n...\n---\nb: 2\n", "second document"),
        ("a: .nan\n", "a finite number"),
        ("a: -.inf\n", "a finite number"),
        ("a: 1e999\n", "a finite number"),
        ("a: " + "9" * 5000 + "\n", "5000 digits"),
        ("a: 9007199254740993\n", "9007199254740991"),
        ("1: x\n", "a text key"),
        ("true: x\n", 'Put it in quotes: "true"'),
        ("? [a]\n: x\n", "a text key"),
        ('a: "\\x00"\n', "U+0000"),
        ('a: "\\x1b[31m"\n', "U+001B"),
        ("a: \x07\n", "U+0007"),
        ("a: x\x85b\n", "U+0085"),
        ("a: x\u2028b\n", "U+2028"),
        ("%YAML 1.1\n---\na: 1\n", "YAML 1.2"),
        ("%TAG ! tag:x,2000:\n---\na: 1\n", "no directives"),
        ("", "an empty file"),
        ("# only a comment\n", "an empty file"),
        ("a: [1\n", "broken YAML"),
        ("\ta: 1\n", "Indent with spaces"),
        ("op: >=\n", 'op: ">="'),
        ("a: b: c\n", "put in quotes"),
    ],
)
def test_what_a_contract_may_not_hold_is_refused(text: str, said: str) -> None:
    assert said in faults_of(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "a": 2}', "a second time"),
        ('{"a": NaN}', "a finite number"),
        ('{"a": -Infinity}', "a finite number"),
        ('{"a": 1e400}', "a finite number"),
        ('{"a": ' + "1" * 10_000 + "}", "10000 digits"),
        ('{"a": "\\ud800"}', "U+D800"),
        ('{"a": 1} {"b": 2}', "text after the end"),
        ('{"a": 1,}', "Delete the comma"),
        ("{'a': 1}", "a key in double quotes"),
        ('{"a": yes}', "double quotes"),
        ('{"a": 01}', "`,` or `}`"),
        ('{"a": "x\ny"}', "text in double quotes"),
        ('{"a"', "`:` after the key"),
        ("", "an empty file"),
        ('{"a": +1}', "a JSON value"),
        ("[1 2]", "`,` or `]`"),
    ],
)
def test_json_is_strict(text: str, said: str) -> None:
    assert said in faults_of(text, "c.json")


def test_all_faults_are_told_at_once_with_their_lines() -> None:
    said = faults_of("a: &x 1\nb: .nan\na: !t 2\n")

    assert "c.yaml:1:4: a" in said
    assert "c.yaml:2:4: b" in said
    assert "c.yaml:3:1: a" in said
    assert "the tag !t" in said


@pytest.mark.parametrize("opening", ["[", "{a: ", '{"a": '])
def test_more_than_64_levels_are_refused(opening: str) -> None:
    closing = "]" if opening == "[" else "}"

    assert parse_document(opening * 64 + closing * 64).value
    assert "64" in faults_of(opening * 65 + closing * 65)


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "? " * 50_000, '{"a":' * 100_000])
def test_endless_nesting_ends_in_an_error(text: str) -> None:
    assert faults_of(text)


def test_too_many_values_are_refused() -> None:
    assert "input file" in faults_of("[" + "1," * 100_001 + "]")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xef\xbb\xbfa: 1\n", "byte order mark"),
        ("a: 1\n".encode("utf-16"), "UTF-16"),
        ("a: 1\n".encode("utf-16-le"), "UTF-16"),
        (b"a: 1\nb: caf\xe9\n", "0xe9"),
        (b"a: \xed\xa0\x80\n", "not UTF-8"),
        (b"a" * (4 * 1024 * 1024 + 1), "4194304 bytes"),
    ],
)
def test_other_encodings_and_sizes_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(content)

    with pytest.raises(ContractError, match=said) as caught:
        load_document(path)

    assert caught.value.exit_code == 3


def test_the_place_of_a_bad_byte_is_told(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(b"a: 1\r\nb: caf\xe9\n")

    with pytest.raises(ContractError) as caught:
        load_document(path)

    assert (caught.value.problems[0].line, caught.value.problems[0].column) == (2, 7)


def test_what_is_no_file_is_refused_and_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for path, said in [
        (tmp_path, "a folder"),
        (tmp_path / "pipe", "no regular file"),
        (tmp_path / "gone.yaml", "no such file"),
        (tmp_path / "a\0b", "null"),
    ]:
        with pytest.raises(ContractError, match=said):
            load_document(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e3", 1000.0),
        ("[note, x]", ["note", "x"]),
        ("{a: 1}", {"a": 1}),
        ("yes", "yes"),
        ("", None),
        ("a b", "a b"),
    ],
)
def test_values_of_options_are_yaml_1_2(text: str, value: Any) -> None:
    assert parse_value(text) == value
