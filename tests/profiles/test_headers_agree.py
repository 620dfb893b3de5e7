"""Our header reader against an independent one, on the programs of this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sciharness.profiles.headers import Header, header_of, runs_here

FOLDERS = ("/usr/bin", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/sbin")
MACHINES = {"Advanced Micro Devices X86-64": "x86-64", "AArch64": "arm64", "Intel 80386": "x86"}

needs_readelf = pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is missing")


def header(path: Path) -> Header | None:
    """Return the header of a file by our reader."""
    file = os.open(path, os.O_RDONLY)
    try:
        return header_of(file)
    finally:
        os.close(file)


def some_programs() -> list[Path]:
    """Return every eighth file of the system's folders."""
    found = [Path(one) for folder in FOLDERS if os.path.isdir(folder) for one in os.scandir(folder)]
    files = sorted(path for path in found if path.is_file() and not path.is_symlink())
    return files[::8]


@needs_readelf
def test_readelf_says_the_same() -> None:
    compared = 0
    for path in some_programs():
        ours = header(path)
        if ours is None or ours.format != "elf":
            continue
        said = subprocess.run(
            ["readelf", "-hlW", path], capture_output=True, text=True, check=False
        ).stdout
        kind = re.search(r"Type:\s+(\w+)", said)
        machine = re.search(r"Machine:\s+(.+)", said)
        loader = re.search(r"Requesting program interpreter: (.+)]", said)
        assert kind is not None and machine is not None
        assert not ours.refused, path
        assert ours.machine == MACHINES.get(machine[1].strip(), ours.machine), path
        assert ours.interpreter == (loader[1] if loader else ""), path
        if kind[1] == "EXEC" or loader:
            assert ours.kind == "executable", path
        elif kind[1] == "REL":
            assert ours.kind == "object", path
        compared += 1
    assert compared > 20


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler is installed")
@pytest.mark.parametrize(
    ("words", "kind", "starts"),
    [
        ([], "executable", True),
        (["-no-pie"], "executable", True),
        (["-static"], "executable", True),
        (["-shared", "-fPIC"], "library", False),
        (["-c"], "object", False),
    ],
)
def test_what_a_compiler_makes_is_recognised(
    words: list[str], kind: str, starts: bool, tmp_path: Path
) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    made = subprocess.run(
        ["cc", *words, "-o", str(tmp_path / "a"), str(tmp_path / "a.c")], capture_output=True
    )
    if made.returncode != 0:
        pytest.skip("the compiler has no library for this")
    found = header(tmp_path / "a")
    assert found is not None
    assert (found.kind, runs_here(found)) == (kind, starts)
