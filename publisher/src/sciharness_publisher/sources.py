"""Source text of inference.py: the protocol part and one model part in one file."""

from __future__ import annotations

from importlib.resources import files

_OWN_IMPORT = "from sciharness_publisher."
_FUTURE = "from __future__ import annotations\n"


def inference_source(part: str) -> str:
    """Return one self-contained Python source for models computed by ``part``.

    ``part`` is the name of a module in :mod:`sciharness_publisher.inference`.
    The result needs Python 3.11 and numpy, and is the same for all its models.
    """
    folder = files("sciharness_publisher") / "inference"
    protocol = (folder / "protocol.py").read_text(encoding="utf-8")
    model = (folder / f"{part}.py").read_text(encoding="utf-8")
    return protocol.rstrip("\n") + "\n\n\n" + _without_header(model)


def _without_header(source: str) -> str:
    """Drop the module docstring, turned into a comment, and imports of our own parts."""
    docstring, _, body = source.partition("\n")
    lines = [line for line in body.split("\n") if not line.startswith(_OWN_IMPORT)]
    return f"# {docstring.strip(chr(34))}\n" + "\n".join(lines).replace(_FUTURE, "", 1).lstrip("\n")
