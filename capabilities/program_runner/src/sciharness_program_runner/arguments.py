"""The command line of a program: owned by the runtime, the same rule for authors and executor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from sciharness.errors import RequestError
from sciharness.profiles.command_line import CommandLine, missing_from

# This text goes to whoever writes a program and is what the executor does.
CONTRACT = (
    "Arguments of the program, word by word; {artifact:NAME} stands for the path of the input "
    "NAME (a folder for a directory bundle). Without any, every input but the program itself is "
    "given in the order of the names as --NAME {artifact:NAME}, with `-` for `_`: training_npz "
    "becomes --training-npz {artifact:training_npz}. The program reads its arguments with "
    "argparse, writes its outputs into the working directory, and may report finite numbers as "
    "metrics in result.json."
)

_FIELD = re.compile(r"\{artifact:([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def default_arguments(names: Iterable[str]) -> list[str]:
    """Return the stable pairs for inputs of these names.

    >>> default_arguments(["training_npz", "config"])
    ['--config', '{artifact:config}', '--training-npz', '{artifact:training_npz}']

    Raises:
        RequestError: a name makes no option.
    """
    words = []
    for name in sorted(names):
        if not _NAME.fullmatch(name):
            raise RequestError(
                f"the input name {name!r} makes no option",
                where=f"inputs.{name}",
                hint="Use letters, digits and `_`.",
            )
        words += [f"--{name.replace('_', '-')}", f"{{artifact:{name}}}"]
    return words


def filled(words: Sequence[str], paths: Mapping[str, str]) -> list[str]:
    """Return arguments with the paths of the inputs in their places.

    Raises:
        RequestError: an argument names an input that the step does not have.
    """

    def path_of(match: re.Match[str]) -> str:
        name = match[1]
        if name not in paths:
            known = ", ".join(sorted(paths)) or "none"
            raise RequestError(
                f"{{artifact:{name}}} names no input of the step",
                where="arguments",
                hint=f"Its inputs are: {known}.",
            )
        return paths[name]

    return [_FIELD.sub(path_of, word) for word in words]


def check_arguments(line: CommandLine, words: Sequence[str]) -> None:
    """Refuse a program that requires arguments which its command does not give.

    Raises:
        RequestError: it names them.
    """
    missing = missing_from(line, words)
    if missing:
        given = " ".join(words) or "no arguments"
        raise RequestError(
            f"the program requires {', '.join(missing)}, and is given: {given}",
            where="program",
            hint=CONTRACT,
        )
