"""Signs of a package of this system: an attachment that carries one is never taken for a solver."""

from __future__ import annotations

from collections.abc import Callable, Iterable

GROUP = b"sciharness.plugins"
MANIFEST_BYTES = 65536

_FOLDERS = (".dist-info", ".egg-info")
_NAMING = ("pyproject.toml", "entry_points.txt", "setup.cfg", "setup.py")


def manifest_in(paths: Iterable[str], read: Callable[[str], bytes]) -> str:
    """Return the path of a package manifest among ``paths``, ``""`` if there is none.

    That is a ``*.dist-info`` or ``*.egg-info`` folder, a ``plugin.json`` at the
    root, or project metadata that names our entry-point group. ``read`` gives
    the first bytes of a file.
    """
    for path in paths:
        *above, name = path.split("/")
        folded = [part.casefold() for part in above]
        if any(part.endswith(_FOLDERS) for part in folded):
            return path
        if not above and name.casefold() == "plugin.json":
            return path
        if name.casefold() in _NAMING and GROUP in read(path)[:MANIFEST_BYTES]:
            return path
    return ""
