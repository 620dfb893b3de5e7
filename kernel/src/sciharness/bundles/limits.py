"""What a chosen folder may hold at most, and which paths it may have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from attrs import frozen

from sciharness.contract.inputs import MAX_DEPTH, MAX_PATH_BYTES
from sciharness.errors import DataError

MEBIBYTE = 2**20

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DRIVE = re.compile(r".:")


@frozen
class FolderLimits:
    """Bounds of a folder: regular files, bytes before and after encoding."""

    files: int = 512
    content_bytes: int = 50 * MEBIBYTE
    encoded_bytes: int = 10 * MEBIBYTE


class RuleError(DataError):
    """A folder or archive breaks a rule; ``rule`` is its short name."""

    def __init__(self, rule: str, message: str, hint: str = "") -> None:
        super().__init__(f"{message} (rule: {rule})", hint=hint)
        self.rule = rule


def check_path(path: str, *, portable: bool = True) -> None:
    """Confirm that a path is relative, plain and within bounds.

    A ``portable`` one also means the same on every system and can be shown.

    Raises:
        RuleError: it is not; ``path`` is the rule for dangerous ones.
    """
    shown = f"{path[:80]!a}"
    try:
        length = len(path.encode("utf-8"))
    except UnicodeEncodeError:
        raise RuleError("utf-8", f"{shown} is a name that is no UTF-8") from None
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise RuleError("path", f"{shown} is no plain relative path")
    if portable and ("\\" in path or _DRIVE.match(path)):
        raise RuleError("path", f"{shown} means another place on Windows")
    if "\0" in path or (portable and _CONTROL.search(path)):
        raise RuleError("path", f"{shown} holds a control character")
    if len(parts) > MAX_DEPTH:
        raise RuleError("depth", f"{shown} lies {len(parts)} deep, at most {MAX_DEPTH}")
    if length > MAX_PATH_BYTES:
        raise RuleError("path length", f"{shown} has {length} bytes, at most {MAX_PATH_BYTES}")


def check_twins(paths: Iterable[str]) -> None:
    """Confirm that no two paths, or folders above them, differ only in case or in composition.

    Raises:
        RuleError: two do.
    """
    seen: dict[str, str] = {}
    for path in paths:
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            spelled = "/".join(parts[:end])
            folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", spelled).casefold())
            other = seen.setdefault(folded, spelled)
            if other != spelled:
                raise RuleError(
                    "twins",
                    f"{other[:80]!a} and {spelled[:80]!a} are one name on other systems",
                    "Rename one of them.",
                )
