"""Samples of every kind of attachment, made by the tests themselves."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest


def elf(*, wide: bool = True, interpreter: bytes = b"/lib64/ld.so\0", kind: int = 2) -> bytes:
    """Return a small ELF file: header, program headers, interpreter."""
    head, entry = (64, 56) if wide else (52, 32)
    place = head + entry
    fields = (kind, 62 if wide else 3, 1, 0, head, 0, 0, head, entry, 1, 0, 0, 0)
    header = b"\x7fELF" + bytes([2 if wide else 1, 1, 1]) + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH", *fields)
    size = len(interpreter)
    segment = (
        struct.pack("<IIQQQQQQ", 3, 4, place, 0, 0, size, size, 1)
        if wide
        else struct.pack("<IIIIIIII", 3, place, 0, 0, size, size, 4, 1)
    )
    return header + segment + interpreter


def pe(*, flags: int = 0x22, machine: int = 0x8664, magic: int = 0x20B) -> bytes:
    """Return a small PE file: DOS header, file header, one section."""
    dos = b"MZ" + bytes(58) + struct.pack("<I", 64)
    head = b"PE\0\0" + struct.pack("<HHIIIHH", machine, 1, 0, 0, 0, 2, flags)
    return dos + head + struct.pack("<H", magic) + bytes(40)


def macho(machine: int = 0x01000007, loader: bytes = b"/usr/lib/dyld\0\0\0") -> bytes:
    """Return a small Mach-O file with a loader."""
    command = struct.pack("<3I", 0xE, 12 + len(loader), 12) + loader
    head = b"\xcf\xfa\xed\xfe" + struct.pack("<6I", machine, 0, 2, 1, len(command), 0)
    return head + bytes(4) + command


def universal(*slices: bytes, count: int | None = None) -> bytes:
    """Return a universal file of Mach-O files."""
    table, body = b"", b""
    start = 8 + 20 * len(slices)
    for one in slices:
        machine = struct.unpack_from("<I", one, 4)[0]
        table += struct.pack(">5I", machine, 0, start + len(body), len(one), 0)
        body += one
    return struct.pack(">2I", 0xCAFEBABE, len(slices) if count is None else count) + table + body


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """One sound file of each format, by its name."""
    array = io.BytesIO()
    np.save(array, np.arange(6.0).reshape(2, 3))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("solve.py", "print(1)\n" * 50)
        archive.writestr("README.md", "Call it.")
    elements = {"d": {"__class__": "Drift", "length": 1.0}, "q": {"__class__": "Quadrupole"}}
    line = {"elements": elements, "element_names": ["d", "q", "d"], "particle_ref": {"q0": 1}}
    return {
        "table.csv": b"sample_id,length [m],period\n" + b"a1,0.5,1.42\na2,1,\n" * 40,
        "table.tsv": b"x\ty\n1\t2,5\n3\t4,5\n",
        "facts.json": json.dumps({"a": [1, 2, {"b": None}], "c": "SECRET-CELL"}).encode(),
        "ring.json": json.dumps({"line": line}).encode(),
        "tool.py": TOOL.encode(),
        "ring.madx": b"q1: quadrupole, l=1;\nd1: drift, l=2;\nring: line=(q1,d1);\n",
        "ring.lte": b'Q1: QUAD,L=0.1\n"D1": DRIF,L=1\nRING: LINE=(Q1,D1)\n',
        "optics.tfs": b'@ NAME %05s "TWISS"\n* NAME S BETX\n$ %s %le %le\n "A" 0 1\n "B" 1 2\n',
        "array.npy": array.getvalue(),
        "solver.zip": packed.getvalue(),
        "elf": elf(),
        "elf32": elf(wide=False),
        "tool.exe": pe(),
        "mac": macho(),
        "fat": universal(macho(), macho(0x0100000C)),
        "notes.txt": b"some words\nand more\n",
        "noise.bin": bytes(range(256)),
    }


TOOL = '''
"""Documented."""
import argparse, json
from os import path

def solve(a, b):
    secret = "SECRET-SOURCE"
    return a + b

class Solver: pass

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--training-npz", required=True)
    parser.add_argument("-o", "--output")
    print(parser.parse_args())
'''


@pytest.fixture
def written(tmp_path: Path, samples: dict[str, bytes]) -> Path:
    """A folder with all the samples as files."""
    for name, content in samples.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path
