"""Documents: YAML 1.2 or JSON text as plain data with the place of every key and value."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from sciharness.contract._builder import Builder, Place, SyntaxFault, refuse_text
from sciharness.contract.paths import DocumentPath
from sciharness.errors import ContractError
from sciharness.problems import Problem

MAX_BYTES = 4 * 1024 * 1024

# Everything YAML or a terminal would treat as more than text; tab and line ends are checked apart.
_RAW_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


@frozen(eq=False)
class Document:
    """A parsed document: ``value`` is plain data, ``name`` the file as problems show it.

    ``places`` and ``keys`` map paths such as ``("steps", 2, "with")`` to the
    line and column, counted from 1, where the value or its key starts.
    """

    name: str
    value: Any  # Any: JSON values
    places: Mapping[DocumentPath, Place] = field(factory=dict)
    keys: Mapping[DocumentPath, Place] = field(factory=dict)

    def place(self, path: DocumentPath) -> Place | None:
        """Return where the value at ``path`` starts, or its nearest parent that exists."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return None

    def key_place(self, path: DocumentPath) -> Place | None:
        """Return where the key of ``path`` starts, else the place of its value."""
        return self.keys.get(path) or self.place(path)


def load_document(path: str | Path) -> Document:
    """Return the document in the file ``path``.

    A name that ends in ``.json``, or text that parses as a JSON object, is
    JSON; all else is YAML in the sense of version 1.2 (core schema). Aliases,
    tags, duplicate keys, several documents, more than 64 levels, non-finite
    numbers, control characters and files over 4 MiB are refused.

    Raises:
        ContractError: the file cannot be read or is refused; all findings are in ``problems``.
    """
    name = str(path)
    return parse_document(_decode(_read(Path(path), name), name), name)


def parse_document(text: str, name: str = "") -> Document:
    """Return the document in ``text``; ``name`` is shown in problems and may end in ``.json``.

    Raises:
        ContractError: the text is refused; all findings are in ``problems``.
    """
    _check_characters(text, name)
    if name.lower().endswith(".json"):
        return _parse("json", text, name)
    if text.lstrip(" \t\r\n").startswith("{"):
        try:
            return _parse("json", text, name)
        except SyntaxFault:
            pass  # A flow mapping of YAML starts in the same way.
    return _parse("yaml", text, name)


def parse_value(text: str, name: str = "") -> Any:  # Any: JSON values
    """Return one YAML 1.2 scalar or flow value, as command-line options take them.

    Raises:
        ContractError: the text is refused; all findings are in ``problems``.
    """
    _check_characters(text, name)
    return _parse("yaml", text, name, empty_is_null=True).value


def _parse(language: str, text: str, name: str, *, empty_is_null: bool = False) -> Document:
    builder = Builder(name)
    # Only the reader that is needed: the YAML library is a slow import.
    if language == "json":
        from sciharness.contract._json import read_json

        value = read_json(text, builder)
    else:
        from sciharness.contract._yaml import read_yaml

        value = read_yaml(text, builder, empty_is_null=empty_is_null)
    builder.finish()
    return Document(name, value, builder.places, builder.keys)


def _read(path: Path, name: str) -> bytes:
    try:
        kind = path.stat().st_mode
        if not stat.S_ISREG(kind):
            what = "a folder" if stat.S_ISDIR(kind) else "no regular file"
            raise _refusal(name, f"this is {what}", "a YAML or JSON file")
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _refusal(name, "no such file", "a YAML or JSON file") from None
    except (OSError, ValueError) as fault:
        said = getattr(fault, "strerror", None) or str(fault)
        raise _refusal(name, said, "a file that can be read") from fault
    if len(content) > MAX_BYTES:
        hint = "Put long lists into an input file."
        raise _refusal(name, f"more than {MAX_BYTES} bytes", f"at most {MAX_BYTES} bytes", hint)
    return content


def _decode(content: bytes, name: str) -> str:
    hint = "Save the file as UTF-8 without a byte order mark."
    expected = "UTF-8 text without a byte order mark"
    if content.startswith(b"\xef\xbb\xbf"):
        raise _refusal(name, "a byte order mark", expected, hint, (1, 1))
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in content[:4]:
        raise _refusal(name, "UTF-16 or UTF-32 text", expected, hint, (1, 1))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as fault:
        before = content[: fault.start].decode("utf-8")
        found = f"byte 0x{content[fault.start]:02x}, which is not UTF-8"
        raise _refusal(name, found, expected, hint, _place_after(before)) from None


def _check_characters(text: str, name: str) -> None:
    match = _RAW_CONTROL.search(text)
    if match is None:
        return
    place = _place_after(text[: match.start()])
    refuse_text(name, place, match.group())


def _place_after(before: str) -> Place:
    lines = re.split("\r\n|\r|\n", before)
    return len(lines), len(lines[-1]) + 1


def _refusal(
    name: str, found: str, expected: str, hint: str = "", place: Place | None = None
) -> ContractError:
    line, column = place or (None, None)
    problem = Problem("contract", name, line, column, "", found, expected, hint)
    return ContractError(f"{found}, expected {expected}", where=name, hint=hint, problems=[problem])
