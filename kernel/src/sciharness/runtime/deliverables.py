"""Files that are handed to people: an example that runs, a guide that covers what it has to."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from pathlib import Path

MAX_BYTES = 1024 * 1024

_TOPICS = {
    "input": r"\binputs?\b|输入",
    "output": r"\boutputs?\b|输出",
    "domain": r"\bdomain\b|\brange\b|适用|范围|定义域",
    "fallback": r"\bfall(?:s|ing)?[ -]?back\b|\boutside\b|回退|后备",
}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def fault_of(kind: str, path: Path) -> str:
    """Return why a file cannot be delivered as an artifact of type ``kind``; empty if it can.

    Only examples and guides have rules. Nothing is run.
    """
    rule = _RULES.get(kind)
    if rule is None:
        return ""
    if path.stat().st_size > MAX_BYTES:
        return f"it is larger than {MAX_BYTES} bytes"
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte {error.start} is not UTF-8"
    return rule(text, path.name)


def _example_fault(text: str, name: str) -> str:
    if not name.endswith(".py"):
        return "its name does not end in .py"
    cookie = re.match(r"(?:[^\n]*\n)?[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", text)
    if cookie and cookie[1].lower().replace("_", "-") not in {"utf-8", "utf8"}:
        return f"it says that its encoding is {cookie[1]}"
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"it is no Python: {error}"
    return "" if _calls(tree) else "nothing is called when it runs"


def _calls(node: ast.AST) -> bool:
    """Return whether running the module calls something: not only what it defines."""
    waiting: list[ast.AST] = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, ast.Call):
            return True
        waiting.extend(
            child for child in ast.iter_child_nodes(current) if not isinstance(child, _SCOPES)
        )
    return False


def _guide_fault(text: str, name: str) -> str:
    lacking = [topic for topic, words in _TOPICS.items() if not re.search(words, text, re.I)]
    return f"it says nothing of {', '.join(lacking)}" if lacking else ""


_RULES: Mapping[str, Callable[[str, str], str]] = {
    "MINIMAL_EXAMPLE": _example_fault,
    "USAGE_GUIDE": _guide_fault,
}
