"""Each flaw of a manual ZIP, alone in a sound one, is named and keeps it from being a solver."""

from __future__ import annotations

import io
import shutil
import stat
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sciharness.bundles import RuleError
from sciharness.bundles.zip_scan import ZipScan, unpack_zip

Make = Callable[[Any], bytes]

LARGE = bytes(3 * 2**20)  # deflates about 1000 to 1


def _quoted(z: Any) -> bytes:
    """Return an archive whose two entries share one local header and its data."""
    first = z.member("a", bytes(2000))
    return bytes(z.archive(first, z.member("b", bytes(2000), offset=0, local={})))


FLAWS: dict[str, tuple[str, Make]] = {
    "traversal": ("path", lambda z: z.archive(z.member("../evil"))),
    "absolute": ("path", lambda z: z.archive(z.member("/etc/evil"))),
    "dot": ("path", lambda z: z.archive(z.member("a/./b"))),
    "empty part": ("path", lambda z: z.archive(z.member("a//b"))),
    "empty name": ("path", lambda z: z.archive(z.member(""))),
    "backslash": ("path", lambda z: z.archive(z.member("a\\..\\evil"))),
    "drive": ("path", lambda z: z.archive(z.member("C:evil"))),
    "nul": ("path", lambda z: z.archive(z.member(b"a.py\0.txt"))),
    "escape": ("path", lambda z: z.archive(z.member("a\x1b[2Jb"))),
    "deep": ("depth", lambda z: z.archive(z.member("/".join("d" * 33)))),
    "long": ("path length", lambda z: z.archive(z.member("n" * 1025))),
    "bad utf-8": ("utf-8", lambda z: z.archive(z.member(b"a\xff.py"))),
    "twice": ("duplicate", lambda z: z.archive(z.member("a"), z.member("a", b"other"))),
    "file and folder": ("duplicate", lambda z: z.archive(z.member("a"), z.member("a/b"))),
    "case": ("twins", lambda z: z.archive(z.member("Solve"), z.member("solve"))),
    "composition": ("twins", lambda z: z.archive(z.member("e\u0301"), z.member("\u00e9"))),
    "case of folders": ("twins", lambda z: z.archive(z.member("A/x"), z.member("a/y"))),
    "link": ("link", lambda z: z.archive(z.member("x", b"/etc", mode=stat.S_IFLNK | 0o777))),
    "pipe": ("special file", lambda z: z.archive(z.member("x", b"", mode=stat.S_IFIFO))),
    "device": ("special file", lambda z: z.archive(z.member("x", b"", mode=stat.S_IFCHR))),
    "encrypted": ("encrypted", lambda z: z.archive(z.member(flags=0x801))),
    "strong encryption": ("encrypted", lambda z: z.archive(z.member(flags=0x841))),
    "masked directory": ("encrypted", lambda z: z.archive(z.member(flags=0x2800))),
    "ratio": ("expansion", lambda z: z.archive(z.member(content=LARGE))),
    "total": (
        "expansion",
        lambda z: z.archive(
            *[z.member(f"f{n}", b"", size=9 * 2**20, packed=9 * 2**20) for n in range(6)]
        ),
    ),
    "bzip2": ("method", lambda z: z.archive(z.member(method=12))),
    "many": ("files", lambda z: z.archive(*[z.member(f"f{n}", b"") for n in range(513)])),
    "dist-info": ("manifest", lambda z: z.archive(z.member("x-1.dist-info/METADATA"))),
    "egg-info": ("manifest", lambda z: z.archive(z.member("s/x.egg-info/PKG-INFO"))),
    "plugin.json": ("manifest", lambda z: z.archive(z.member("plugin.json", b"{}"))),
    "pyproject": (
        "manifest",
        lambda z: z.archive(
            z.member("pyproject.toml", b'[project.entry-points."sciharness.plugins"]\n')
        ),
    ),
    "entry points": (
        "manifest",
        lambda z: z.archive(z.member("a/entry_points.txt", b"[sciharness.plugins]\n", method=0)),
    ),
    "prefix": ("structure", lambda z: z.archive(z.member(), prefix=b"#!/bin/sh\n")),
    "shifted": ("structure", lambda z: b"MZ" + z.archive(z.member())),
    "suffix": ("structure", lambda z: z.archive(z.member(), suffix=b"more")),
    "two ends": ("structure", lambda z: z.archive(z.member(), comment=z.archive())),
    "gap": ("structure", lambda z: z.archive(z.member(), gap=b"hidden")),
    "hidden local entry": (
        "structure",
        lambda z: z.archive(z.member(after=z.archive(z.member("evil"))[:40])),
    ),
    "overlap": ("structure", _quoted),
    "other local name": ("structure", lambda z: z.archive(z.member(local={"name": b"evil.py"}))),
    "other local size": ("structure", lambda z: z.archive(z.member(local={"size": 5}))),
    "other local method": ("structure", lambda z: z.archive(z.member(local={"method": 0}))),
    "other local flags": ("structure", lambda z: z.archive(z.member(local={"flags": 0}))),
    "no descriptor": ("structure", lambda z: z.archive(z.member(flags=0x808))),
    "no local header": ("structure", lambda z: z.archive(z.member(offset=0))),
    "disks": ("structure", lambda z: z.archive(z.member(), disk=1)),
    "count": ("structure", lambda z: z.archive(z.member(), count=2, here=2)),
    "zip64": ("structure", lambda z: z.archive(z.member(), count=0xFFFF, here=0xFFFF)),
    "other name in a field": (
        "structure",
        lambda z: z.archive(z.member(extra=b"\x75\x70\x06\x00\x01....x")),
    ),
    "folder with content": ("structure", lambda z: z.archive(z.member("d/", b"x", mode=0))),
    "stored, two sizes": ("structure", lambda z: z.archive(z.member(method=0, size=3, packed=9))),
    "empty": ("structure", lambda z: b""),
    "no zip": ("structure", lambda z: b"PK\x03\x04 and nothing more"),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_flaw_is_named_by_its_rule(
    flaw: str, zips: Any, scanned: Callable[[bytes], ZipScan], tmp_path: Path
) -> None:
    rule, make = FLAWS[flaw]
    found = scanned(make(zips))
    assert rule in [one.rule for one in found.flaws]
    with pytest.raises(RuleError, match="rule: "):
        unpack_zip(tmp_path / "given.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_the_rules_refuse_other_readers_take(zips: Any, tmp_path: Path) -> None:
    # Without rules of our own the traversal, the link and the twin would have been unpacked.
    silent = 0
    for rule, make in FLAWS.values():
        try:
            with zipfile.ZipFile(io.BytesIO(make(zips))) as archive:
                [archive.read(name) for name in archive.namelist()]
        except Exception:  # noqa: BLE001 counted, not explained
            continue
        silent += rule != "method"
    assert silent >= 25


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("longer", {"size": 4}),
        ("shorter", {"size": 40}),
        ("other content", {"crc": 1}),
        ("rest after the end", {"data": b"\x03\x00extra", "packed": 7, "size": 0, "crc": 0}),
        ("no end", {"data": b"\x00\x05", "packed": 2, "size": 5}),
        ("no deflate", {"data": b"\xff" * 9, "packed": 9}),
    ],
)
def test_a_member_is_what_the_directory_says_or_refused(
    name: str, fault: dict[str, Any], zips: Any, tmp_path: Path
) -> None:
    (tmp_path / "x.zip").write_bytes(zips.archive(zips.member(**fault)))
    with pytest.raises(RuleError):
        unpack_zip(tmp_path / "x.zip", tmp_path / "out")


def test_legal_oddities_come_out_as_they_are(
    zips: Any, scanned: Callable[[bytes], ZipScan], tmp_path: Path
) -> None:
    deep = "/".join(["d" * 31] * 31 + ["f" * 32])
    described = zips.member(
        "described", b"later", flags=0x808, local={"crc": 0, "packed": 0, "size": 0}
    )
    described.after = b"PK\x07\x08" + described.crc.to_bytes(4, "little")
    described.after += described.packed.to_bytes(4, "little") + (5).to_bytes(4, "little")
    members = [
        zips.member("folder/", b"", mode=stat.S_IFDIR | 0o755, method=0),
        zips.member("empty", b""),
        zips.member(deep, b"deep"),
        zips.member("sp ace 'quote\" $x;&.txt", b"odd"),
        zips.member("\u00c5ngstr\u00f6m \u65e5\u672c", b"names"),
        zips.member(b"\x81.txt", b"old code page", flags=0),
        zips.member("run.sh", b"#!/bin/sh\n", mode=stat.S_IFREG | 0o755),
        zips.member("stored", b"x" * 99, method=0),
        described,
        zips.member("no mode", b"dos", mode=0),
        *[zips.member(f"many/{n}", b"") for n in range(500)],
    ]
    content = zips.archive(*members, comment=b"made by hand")
    found = scanned(content)
    assert found.flaws == ()
    unpack_zip(tmp_path / "given.zip", tmp_path / "out")
    ours = {
        path.relative_to(tmp_path / "out").as_posix(): path.read_bytes()
        for path in (tmp_path / "out").rglob("*")
        if path.is_file()
    }
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        theirs = {name: archive.read(name) for name in archive.namelist() if name[-1] != "/"}
    assert ours == theirs
    assert len(ours) == 509
    assert (tmp_path / "out" / "run.sh").stat().st_mode & 0o111
    assert not (tmp_path / "out" / "stored").stat().st_mode & 0o111


@pytest.mark.skipif(shutil.which("unzip") is None, reason="unzip is not installed")
def test_unzip_sees_the_same_files(zips: Any, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(
        zips.archive(zips.member("a/b", b"one"), zips.member("c", b"two" * 999))
    )
    unpack_zip(tmp_path / "x.zip", tmp_path / "ours")
    subprocess.run(
        ["unzip", "-q", str(tmp_path / "x.zip"), "-d", str(tmp_path / "theirs")], check=True
    )
    for name in ("a/b", "c"):
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()


def test_what_zipfile_and_numpy_write_has_no_flaw(
    scanned: Callable[[bytes], ZipScan], tmp_path: Path
) -> None:
    import numpy as np

    np.savez(tmp_path / "a.npz", x=np.arange(5.0), y=np.ones((2, 3)))
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("x.txt", "text" * 100)
        with made.open("wide", "w", force_zip64=True) as stream:
            stream.write(b"wide")
    assert [scanned((tmp_path / name).read_bytes()).flaws for name in ("a.npz", "b.zip")] == [
        (),
        (),
    ]
