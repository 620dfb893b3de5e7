"""Wheels made anew from what is installed here, so that pip installs them without a network."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path


def repacked(name: str, wheels: Path) -> Path:
    """Write the wheel of an installed distribution into ``wheels`` and return it."""
    found = distribution(name)
    tag = _field(found, "WHEEL", "Tag")
    stem = f"{found.metadata['Name'].replace('-', '_')}-{found.version}"
    wheels.mkdir(parents=True, exist_ok=True)
    path = wheels / f"{stem}-{tag}.whl"
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for member in _members(found):
            data = Path(str(found.locate_file(member))).read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f'"{member}",sha256={digest},{len(data)}')
            archive.writestr(member, data)
        record = f"{stem}.dist-info/RECORD"
        archive.writestr(record, "\n".join([*lines, f"{record},,"]) + "\n")
    return path


def _members(found: Distribution) -> list[str]:
    names = [str(path) for path in found.files or ()]
    own = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}
    return [
        name
        for name in names
        if not name.startswith("..") and "__pycache__" not in name and Path(name).name not in own
    ]


def _field(found: Distribution, file: str, name: str) -> str:
    lines = (found.read_text(file) or "").splitlines()
    return next(line.split(": ", 1)[1] for line in lines if line.startswith(f"{name}: "))
