"""Which paths belong to import packages, and which names no package may have."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from importlib.machinery import EXTENSION_SUFFIXES

from sciharness_catalog.errors import IntegrityError

MAX_BYTES = 512 * 2**20
MAX_DEPTH = 64
CACHE = "__pycache__"
NATIVE_SUFFIXES = (*EXTENSION_SUFFIXES, ".so", ".pyd", ".dll", ".dylib")


def is_payload(path: str) -> bool:
    """Return whether a path, relative to the packages' parent, belongs to an import package.

    That is every file below a top folder other than metadata and scripts, and
    every module at the top; bytecode caches are never part.

    >>> [is_payload(path) for path in ("p/a.py", "m.py", "p-1.dist-info/RECORD", "../bin/x")]
    [True, True, False, False]
    """
    top, slash, _ = path.partition("/")
    if CACHE in path.split("/"):
        return False
    if not slash:
        return path.endswith((".py", ".pyc", *NATIVE_SUFFIXES))
    return top.isidentifier()


def top_name(path: str) -> str:
    """Return the import package or module file that a payload path belongs to.

    >>> top_name("p/sub/a.py"), top_name("m.py")
    ('p', 'm.py')
    """
    return path.partition("/")[0]


def check_file_set(paths: Iterable[str], *, where: str) -> None:
    """Refuse names that leave the folder, start-up hooks and names that shadow one another.

    Raises:
        IntegrityError: naming the first bad path in sorted order.
    """
    folded: dict[str, str] = {}
    modules: dict[str, str] = {}
    for path in sorted(paths):
        _check_name(path, where)
        twin = folded.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if twin != path:
            raise IntegrityError(f"{path!r} and {twin!r} differ only in spelling", where=where)
        module = _module(path)
        if module is not None:
            other = modules.setdefault(module, path)
            if other != path:
                raise IntegrityError(f"{path!r} shadows {other!r}", where=where)


def _check_name(path: str, where: str) -> None:
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\\" in path or ":" in parts[0]:
        raise IntegrityError(f"{path!r} is not a plain relative path", where=where)
    if len(parts) > MAX_DEPTH:
        raise IntegrityError(f"a path is more than {MAX_DEPTH} folders deep", where=where)
    if any(ord(mark) < 32 or 0xD800 <= ord(mark) < 0xE000 for mark in path):
        raise IntegrityError(f"{path!r} holds a character that no file name may have", where=where)
    if path.endswith(".pth"):
        raise IntegrityError(f"{path!r} would run at every interpreter start", where=where)
    if path.endswith(".pyc") and CACHE not in parts:
        raise IntegrityError(f"{path!r} is bytecode without source", where=where)


def _module(path: str) -> str | None:
    """Return the module that a file would be imported as, ``None`` for data files."""
    folder, _, name = path.rpartition("/")
    if not name.endswith((".py", *NATIVE_SUFFIXES)):
        return None
    stem = name.removesuffix(".py") if name.endswith(".py") else name.partition(".")[0]
    if stem == "__init__":
        return folder
    return f"{folder}/{stem}" if folder else stem
