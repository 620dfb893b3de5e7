"""The command line that a Python program expects, read from its calls of argparse.

Only what stands there literally is taken: names, ``required``, ``nargs`` and
``default``. A parser that is built in loops or by helpers leaves the reading
uncertain, and then nothing is concluded from what is missing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from attrs import field, frozen

from sciharness.profiles._text import shown

_NO_VALUE = ("store_true", "store_false", "store_const", "append_const", "count", "help", "version")


@frozen
class Option:
    """One argument of a program: ``names`` are its spellings, one without dash is positional."""

    names: tuple[str, ...]
    required: bool
    takes_value: bool = True
    subcommand: str = ""

    @property
    def positional(self) -> bool:
        """Whether it is given by its place."""
        return not self.names[0].startswith("-")


@frozen
class CommandLine:
    """What a program's parser asks for.

    ``subcommands`` maps each spelling of a subcommand, aliases too, to its name.
    """

    options: tuple[Option, ...] = ()
    subcommands: Mapping[str, str] = field(factory=dict)
    needs_subcommand: bool = False
    uses_argparse: bool = False
    certain: bool = True


def command_line(tree: ast.AST) -> CommandLine:
    """Return what the calls of argparse in a syntax tree ask for."""
    return _Reader(tree).read()


def missing_from(line: CommandLine, arguments: Sequence[str]) -> list[str]:
    """Return what a program requires and a command does not give, as its author wrote it.

    Options of a subcommand count only where that subcommand is given. Where the
    parser could not be read with certainty, positional arguments are not judged.
    """
    given = {word.partition("=")[0] for word in arguments if word.startswith("--")}
    given |= {word for word in arguments if word.startswith("-")}
    word = next((word for word in arguments if word in line.subcommands), "")
    chosen = line.subcommands.get(word, "")
    active = [one for one in line.options if one.subcommand in ("", chosen)]
    missing = [
        one.names[-1]
        for one in active
        if one.required and not one.positional and not _is_given(one, given)
    ]
    if line.certain:
        missing += _missing_places(line, active, arguments, chosen)
    return missing


def _is_given(option: Option, given: set[str]) -> bool:
    if given.intersection(option.names):
        return True
    for name in option.names:
        if name.startswith("--"):  # argparse takes --in for --input
            if any(len(word) > 2 and name.startswith(word) for word in given):
                return True
        elif any(word.startswith(name) and word[1:2] != "-" for word in given):  # -ofile
            return True
    return False


def _missing_places(
    line: CommandLine, active: list[Option], arguments: Sequence[str], chosen: str
) -> list[str]:
    if line.needs_subcommand and not chosen:
        return ["{" + ",".join(dict.fromkeys(line.subcommands.values())) + "}"]
    wanted = [one.names[0] for one in active if one.positional and one.required]
    free = len(_free_words(active, arguments)) - (1 if chosen else 0)
    return wanted[max(0, free) :]


def _free_words(active: list[Option], arguments: Sequence[str]) -> list[str]:
    """Return the words that are neither options nor values of options."""
    valued = {name for one in active if one.takes_value for name in one.names}
    words = list(arguments)
    free: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            return free + words
        if not word.startswith("-") or word == "-":
            free.append(word)
        elif word in valued and words:
            words.pop(0)
    return free


class _Reader:
    def __init__(self, tree: ast.AST) -> None:
        self.tree = tree
        self.certain = True
        self.uses = False
        self.groups: set[str] = set()  # makers of subcommands
        self.needs_subcommand = False
        self.parsers: dict[str, str] = {}  # variable -> its subcommand, "" for the program's own
        self.exclusive: set[str] = set()
        self.subcommands: dict[str, str] = {}
        self.options: list[Option] = []

    def read(self) -> CommandLine:
        # Assignments come first: names are what ties an argument to its parser.
        nodes = list(_in_order(self.tree))
        for node in nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
                self._assigned(node, node.value)
        for node in nodes:
            if isinstance(node, ast.Call):
                self._called(node)
        return CommandLine(
            tuple(self.options),
            self.subcommands,
            self.needs_subcommand and bool(self.subcommands),
            self.uses,
            self.certain,
        )

    def _assigned(self, node: ast.Assign | ast.AnnAssign, call: ast.Call) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [one.id for one in targets if isinstance(one, ast.Name)]
        made = _method(call)
        if made == "ArgumentParser":
            self.parsers.update(dict.fromkeys(names, ""))
        elif made == "add_subparsers":
            self.groups.update(names)
        elif made == "add_parser":
            for name in names:
                self.parsers[name] = shown(_literal_text(call.args[0]), 80) if call.args else ""
        elif made == "add_argument_group":
            self.parsers.update(dict.fromkeys(names, self.parsers.get(_owner(call), "")))
        elif made == "add_mutually_exclusive_group":
            self.parsers.update(dict.fromkeys(names, self.parsers.get(_owner(call), "")))
            self.exclusive.update(names)

    def _called(self, call: ast.Call) -> None:
        made = _method(call)
        if made == "ArgumentParser":
            self.uses = True
            self.certain = self.certain and not _keyword(call, "parents")
        elif made == "add_subparsers":
            needed = _keyword(call, "required")
            self.needs_subcommand |= isinstance(needed, ast.Constant) and needed.value is True
        elif made == "add_parser" and call.args:
            self._subcommand(call)
        elif made == "add_argument":
            self._argument(call)

    def _subcommand(self, call: ast.Call) -> None:
        name = _literal_text(call.args[0])
        aliases = _keyword(call, "aliases")
        spelled = aliases.elts if isinstance(aliases, ast.List | ast.Tuple) else []
        for spelling in (name, *map(_literal_text, spelled)):
            if spelling:
                self.subcommands[shown(spelling, 80)] = shown(name, 80)

    def _argument(self, call: ast.Call) -> None:
        names = tuple(_literal_text(one) for one in call.args)
        if not names or not all(names) or any(one.arg is None for one in call.keywords):
            self.certain = False
            return
        owner = _owner(call)
        if owner not in self.parsers:
            self.certain = False  # a parameter of a function, a call in a chain
        action = _keyword(call, "action")
        word = _literal_text(action) if action is not None else ""
        option = Option(
            tuple(shown(name, 80) for name in names),
            self._required(call, names, owner),
            word not in _NO_VALUE and not _is_nargs(call, "?", "*"),
            self.parsers.get(owner, ""),
        )
        self.options.append(option)

    def _required(self, call: ast.Call, names: tuple[str, ...], owner: str) -> bool:
        if owner in self.exclusive:
            return False
        if names[0].startswith("-"):
            needed = _keyword(call, "required")
            return isinstance(needed, ast.Constant) and needed.value is True
        return not _is_nargs(call, "?", "*") and _literal_text(_keyword(call, "nargs")) != "..."


def _in_order(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes in the order of the source, without recursion."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _method(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _owner(call: ast.Call) -> str:
    func = call.func
    inner = func.value if isinstance(func, ast.Attribute) else None
    return inner.id if isinstance(inner, ast.Name) else ""


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((one.value for one in call.keywords if one.arg == name), None)


def _is_nargs(call: ast.Call, *words: str) -> bool:
    found = _keyword(call, "nargs")
    return found is not None and _literal_text(found) in words


def _literal_text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
