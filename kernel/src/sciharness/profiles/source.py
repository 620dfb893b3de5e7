"""Python sources by their syntax tree alone: nothing is imported, nothing is run."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from sciharness.profiles._text import shown
from sciharness.profiles.command_line import CommandLine, command_line
from sciharness.profiles.records import MOST_NAMES, Profile

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_UTF8 = frozenset({"utf-8", "utf8", "utf_8", "utf-8-sig", "u8", "ascii", "us-ascii"})

Json = dict[str, Any]  # Any: JSON values


class SourceFault(Exception):
    """The text is no Python source that may be read."""


def parse_source(data: bytes) -> ast.Module:
    """Return the syntax tree of a source in UTF-8.

    Raises:
        SourceFault: it is not Python, is nested too deeply, or says another encoding.
    """
    for line in data.splitlines()[:2]:
        cookie = _COOKIE.match(line)
        if cookie and cookie[1].decode("ascii", "replace").lower() not in _UTF8:
            raise SourceFault(f"the encoding {shown(cookie[1].decode('ascii', 'replace'), 40)}")
    try:
        text = data.decode("utf-8-sig")
        with warnings.catch_warnings(action="ignore"):  # of odd escapes in foreign text
            return ast.parse(text)
    except UnicodeDecodeError as error:
        raise SourceFault(f"no UTF-8 at byte {error.start}") from error
    except SyntaxError as error:
        raise SourceFault(f"no Python at line {error.lineno}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceFault(f"no Python that can be parsed ({type(error).__name__})") from error


def profile_python(data: bytes) -> Profile:
    """Return the profile of a Python source: names, imports, options of its command line."""
    try:
        tree = parse_source(data)
    except SourceFault as fault:
        return Profile("python", roles=("other",), warnings=(f"not parsed: {fault}",))
    functions = [
        one for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    classes = [one.name for one in tree.body if isinstance(one, ast.ClassDef)]
    facts: Json = {
        "lines": data.count(b"\n") + 1,
        "functions": [_function(one) for one in functions[:MOST_NAMES]],
        "classes": _names(classes),
        "imports": _names(sorted(set(_imports(tree)))),
        "runs_as_program": any(_is_main_guard(one) for one in tree.body),
        "command_line": _options(command_line(tree)),
    }
    return Profile("python", roles=("other",), facts=facts)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Json:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return {"name": shown(node.name), "arguments": _names(one.arg for one in arguments)}


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _is_main_guard(node: ast.stmt) -> bool:
    test = node.test if isinstance(node, ast.If) else None
    left = test.left if isinstance(test, ast.Compare) else None
    return isinstance(left, ast.Name) and left.id == "__name__"


def _options(found: CommandLine) -> Json | None:
    if not found.uses_argparse:
        return None
    return {
        "options": [
            {"names": _names(one.names), "required": one.required} for one in found.options[:100]
        ],
        "certain": found.certain,
    }


def _names(names: Iterable[str]) -> list[str]:
    return [shown(name) for name in list(names)[:MOST_NAMES]]
