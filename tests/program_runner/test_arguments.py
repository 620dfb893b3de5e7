"""The command line of programs: stable pairs, and what a source requires that it is not given."""

from __future__ import annotations

import pytest

from sciharness.errors import RequestError
from sciharness.profiles.command_line import command_line, missing_from
from sciharness.profiles.source import parse_source
from sciharness_program_runner.arguments import default_arguments, filled

HEAD = "import argparse\np = argparse.ArgumentParser()\n"


def missing(source: str, words: str) -> list[str]:
    """Return what a source requires and the words do not give."""
    return missing_from(command_line(parse_source((HEAD + source).encode())), words.split())


@pytest.mark.parametrize(
    ("source", "words", "lacks"),
    [
        ("p.add_argument('--a', required=True)", "", ["--a"]),
        ("p.add_argument('--a', required=True)", "--a 1", []),
        ("p.add_argument('--a', required=True)", "--a=1", []),
        ("p.add_argument('--alpha', required=True)", "--al 1", []),
        ("p.add_argument('-a', '--alpha', required=True)", "-a1", []),
        ("p.add_argument('-a', '--alpha', required=True)", "", ["--alpha"]),
        ("p.add_argument('--a')", "", []),
        ("p.add_argument('--a', required=False)", "", []),
        ("p.add_argument('--a', required=True, action='store_true')", "--a", []),
        ("p.add_argument('data')", "", ["data"]),
        ("p.add_argument('data')", "x.csv", []),
        ("p.add_argument('data', nargs='?')", "", []),
        ("p.add_argument('data', nargs='*')", "", []),
        ("p.add_argument('data', nargs='+')", "", ["data"]),
        ("p.add_argument('--a'); p.add_argument('data')", "--a 1", ["data"]),
        ("p.add_argument('--a', action='store_true'); p.add_argument('data')", "--a 1", []),
        ("p.add_argument('a'); p.add_argument('b')", "1", ["b"]),
        ("p.add_argument('a')", "-- -x", []),
        ("g = p.add_argument_group('x')\ng.add_argument('--a', required=True)", "", ["--a"]),
        ("g = p.add_mutually_exclusive_group(required=True)\ng.add_argument('--a')", "", []),
    ],
)
def test_what_is_required_and_not_given_is_found(source: str, words: str, lacks: list[str]) -> None:
    assert missing(source, words) == lacks


SUB = """
s = p.add_subparsers(dest='c', required=True)
one = s.add_parser('fit', aliases=['f'])
one.add_argument('--rows', required=True)
two = s.add_parser('show')
two.add_argument('--page', required=True)
"""


@pytest.mark.parametrize(
    ("words", "lacks"),
    [
        ("", ["{fit,show}"]),
        ("fit --rows 1", []),
        ("f --rows 1", []),
        ("f", ["--rows"]),
        ("show", ["--page"]),
        ("show --rows 1", ["--page"]),
    ],
)
def test_options_of_subcommands_count_where_one_is_given(words: str, lacks: list[str]) -> None:
    assert missing(SUB, words) == lacks


@pytest.mark.parametrize(
    "source",
    [
        "for n in ('x',):\n    p.add_argument(n)",
        "def add(q):\n    q.add_argument('place')\nadd(p)",
        "p.add_argument(*names)",
        "p.add_argument('x', **how)",
        "q = argparse.ArgumentParser(parents=[p])\nq.add_argument('x')",
    ],
)
def test_a_parser_that_cannot_be_read_is_not_judged_by_places(source: str) -> None:
    assert missing(source, "") == []


def test_inputs_become_stable_pairs() -> None:
    words = default_arguments(["training_npz", "model", "a1"])
    assert words == [
        "--a1", "{artifact:a1}", "--model", "{artifact:model}",
        "--training-npz", "{artifact:training_npz}",
    ]  # fmt: skip
    paths = {"training_npz": "/x/t.npz", "model": "/m", "a1": "/a"}
    assert filled(words, paths)[-1] == "/x/t.npz"


@pytest.mark.parametrize("name", ["", "a b", "-x", "1a", "a;b", "ä"])
def test_a_name_that_makes_no_option_is_refused(name: str) -> None:
    with pytest.raises(RequestError, match="makes no option"):
        default_arguments([name])


def test_an_argument_that_names_no_input_is_refused() -> None:
    with pytest.raises(RequestError, match="names no input"):
        filled(["{artifact:other}"], {"data": "/d"})
