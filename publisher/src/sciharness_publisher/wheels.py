"""Reproducible pure wheels: equal contents give equal bytes, wherever they are built."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Mapping

from attrs import field, frozen
from packaging.utils import canonicalize_name
from packaging.version import Version

_EPOCH = (1980, 1, 1, 0, 0, 0)
_MODE = 0o100644 << 16
_UNIX = 3


@frozen
class WheelPlan:
    """What goes into a wheel.

    ``files`` maps paths such as ``package/module.py`` to bytes. ``requires``
    are requirement texts, ``entry_points`` maps group to name to value.
    """

    name: str
    version: str
    summary: str
    files: Mapping[str, bytes]
    requires: tuple[str, ...] = ()
    entry_points: Mapping[str, Mapping[str, str]] = field(factory=dict)

    @property
    def stem(self) -> str:
        """Name and version as they stand in file names of wheels."""
        name = canonicalize_name(self.name).replace("-", "_")
        return f"{name}-{str(Version(self.version)).replace('-', '_')}"

    @property
    def file_name(self) -> str:
        """The file name of the wheel."""
        return f"{self.stem}-py3-none-any.whl"


def build_wheel(plan: WheelPlan) -> bytes:
    """Return the wheel: stored members in order of their names, RECORD last, no times.

    Nothing is compressed, since compressed bytes differ between zlib builds.
    """
    members = wheel_members(plan)
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        for name in members:
            _add(archive, name, members[name])
    return sink.getvalue()


def wheel_members(plan: WheelPlan) -> dict[str, bytes]:
    """Return every file of the wheel by path, in the order in which it holds them."""
    info = f"{plan.stem}.dist-info"
    members = {
        **plan.files,
        f"{info}/METADATA": _metadata(plan),
        f"{info}/WHEEL": _WHEEL,
    }
    if plan.entry_points:
        members[f"{info}/entry_points.txt"] = _entry_points(plan.entry_points)
    record = f"{info}/RECORD"
    ordered = {name: members[name] for name in sorted(members)}
    return {**ordered, record: _record(members, record)}


_WHEEL = b"""\
Wheel-Version: 1.0
Generator: sciharness-publisher
Root-Is-Purelib: true
Tag: py3-none-any
"""


def _metadata(plan: WheelPlan) -> bytes:
    lines = [
        "Metadata-Version: 2.3",
        f"Name: {canonicalize_name(plan.name)}",
        f"Version: {Version(plan.version)}",
        f"Summary: {' '.join(plan.summary.split())}",
        "Requires-Python: >=3.11",
        *(f"Requires-Dist: {text}" for text in sorted(plan.requires)),
    ]
    return ("\n".join(lines) + "\n").encode()


def _entry_points(groups: Mapping[str, Mapping[str, str]]) -> bytes:
    parts = []
    for group in sorted(groups):
        names = "".join(f"{name} = {value}\n" for name, value in sorted(groups[group].items()))
        parts.append(f"[{group}]\n{names}")
    return "\n".join(parts).encode()


def _record(members: Mapping[str, bytes], record: str) -> bytes:
    rows = [f"{name},sha256={_urlsafe(data)},{len(data)}" for name, data in sorted(members.items())]
    return ("\n".join([*rows, f"{record},,"]) + "\n").encode()


def _urlsafe(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    member = zipfile.ZipInfo(name, _EPOCH)
    member.external_attr = _MODE
    member.create_system = _UNIX  # the same on every system
    member.compress_type = zipfile.ZIP_STORED
    archive.writestr(member, data)
