"""Texts of generated programs: shipped parts joined into one self-contained file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from sciharness_publisher.sources import inference_source

_FUTURE = "from __future__ import annotations\n"
_OWN = re.compile(r"^from sciharness_\w+[\w.]* import (?:\([^)]*\)|[^\n]*)\n", re.MULTILINE)
_RUN = '\n\nif __name__ == "__main__":\n    sys.exit('
_PLAIN = ("closed_form", "polynomial", "trees")  # parts that the publisher has


def hybrid_source(part: str) -> str:
    """Return inference.py of a hybrid whose surrogate is computed by ``part``."""
    family = inference_source(part) if part in _PLAIN else _with_protocol(_shipped(part))
    surrogate = family.partition(_RUN)[0].rstrip("\n")
    parts = [surrogate, *(_section(_shipped(name)) for name in ("calling", "routing"))]
    return "\n\n\n".join(parts) + f"{_RUN}main_hybrid(None, build))\n"


def adapter_source(setting: Mapping[str, Any]) -> str:  # Any: JSON values
    """Return adapter.py for a solver with ``setting``."""
    docstring, _, body = _shipped("adapter").partition(_FUTURE)
    text = json.dumps(setting, indent=2, ensure_ascii=True)
    body = _bare(body).replace('json.loads("{}")', f'json.loads(r"""{text}""")', 1)
    head = f"{docstring.rstrip()}\n\n{_FUTURE}"
    calling = _section(_shipped("calling"))
    return f"{head}\n{calling}\n\n\n{body.strip()}{_RUN}main_adapter())\n"


def _shipped(name: str) -> str:
    folder = files("sciharness_file_solver") / "shipped"
    return (folder / f"{name}.py").read_text(encoding="utf-8")


def _with_protocol(source: str) -> str:
    protocol = (files("sciharness_publisher") / "inference" / "protocol.py").read_text("utf-8")
    return protocol.rstrip("\n") + "\n\n\n" + _section(source)


def _section(source: str) -> str:
    """Return a module without header: its docstring as a comment, no import of our own."""
    docstring, _, body = source.partition("\n")
    return f"# {docstring.strip(chr(34))}\n" + _bare(body).strip("\n")


def _bare(body: str) -> str:
    return _OWN.sub("", body).replace(_FUTURE, "", 1)
