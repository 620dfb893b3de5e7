"""Hostile bytes: every reader answers with a profile or a typed fault, and runs nothing."""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.bundles.zip_scan import scan_zip
from sciharness.errors import HarnessError
from sciharness.profiles import _child
from sciharness.profiles._files import profile_file
from sciharness.profiles._folders import profile_zip
from sciharness.profiles._reading import Header, Window
from sciharness.profiles.headers import read_header
from sciharness.profiles.records import KINDS
from sciharness.profiles.source import SourceFault, parse_source

PARSED = [
    "table.csv", "table.tsv", "facts.json", "ring.json", "tool.py", "ring.madx", "ring.lte",
    "optics.tfs", "array.npy", "elf", "elf32", "tool.exe", "mac", "fat", "solver.zip",
]  # fmt: skip


def mutations(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Yield changed copies: bits flipped, pieces cut, doubled, swapped, set to extremes."""
    chance = random.Random(seed)
    for _ in range(count):
        data = bytearray(content)
        for _ in range(chance.choice((1, 1, 2, 5, 20))):
            if not data:
                break
            at = chance.randrange(len(data))
            action = chance.randrange(6)
            if action == 0:
                data[at] ^= 1 << chance.randrange(8)
            elif action == 1:
                data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, 0x22, 0x0A, 0x7B))
            elif action == 2:
                del data[at : at + chance.randrange(1, 40)]
            elif action == 3:
                data[at:at] = data[max(0, at - chance.randrange(1, 60)) : at]
            elif action == 4:
                data[at : at + 4] = struct.pack(
                    "<I", chance.choice((0, 0xFFFFFFFF, 0x7FFFFFFF, len(data)))
                )
            else:
                del data[at:]
        yield bytes(data)


def read(name: str, data: bytes, place: Path) -> Any:
    """Profile bytes as the worker does."""
    if data[:4] not in (b"PK\3\4", b"PK\5\6"):
        return profile_file(name, data)
    path = place / "given.zip"
    path.write_bytes(data)
    file = os.open(path, os.O_RDONLY)
    try:
        return profile_zip(file)
    finally:
        os.close(file)


def hold(name: str, content: bytes, count: int, seed: int, place: Path) -> None:
    """Confirm that every mutation gives a profile that can be printed."""
    for data in mutations(content, count, seed):
        found = read(name, data, place)
        assert found.kind in KINDS
        assert len(json.dumps(found.to_dict(), allow_nan=False)) < 2**20


@pytest.mark.parametrize("name", PARSED)
def test_mutations_give_a_profile_and_nothing_else(
    name: str, samples: dict[str, bytes], tmp_path: Path
) -> None:
    hold(name, samples[name], 250, 1, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", PARSED)
def test_ten_thousand_mutations_give_a_profile_and_nothing_else(
    name: str, samples: dict[str, bytes], tmp_path: Path
) -> None:
    hold(name, samples[name], 10_000, 2, tmp_path)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.binary(max_size=400), st.sampled_from(sorted(set(PARSED) - {"solver.zip"})))
def test_any_bytes_under_any_name_give_a_profile(data: bytes, name: str) -> None:
    found = profile_file(name, data)
    json.dumps(found.to_dict(), allow_nan=False)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.sampled_from(
        (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xfe\xed\xfa\xce")
    ),
    st.binary(max_size=200),
)
def test_any_bytes_after_a_magic_are_read_within_bounds(magic: bytes, rest: bytes) -> None:
    data = magic + rest
    asked: list[int] = []

    def counted(at: int, count: int) -> bytes:
        asked.append(count)
        return data[at : at + count]

    found = read_header(Window(counted, len(data)))
    assert found is None or isinstance(found, Header)
    assert max(asked) <= 65536


def elf_with(samples: dict[str, bytes], **fields: int) -> bytes:
    data = bytearray(samples["elf"])
    places = {
        "phoff": (32, "<Q"),
        "phentsize": (54, "<H"),
        "phnum": (56, "<H"),
        "class": (4, "<B"),
        "order": (5, "<B"),
        "version": (6, "<B"),
        "ehsize": (52, "<H"),
        "filesz": (96, "<Q"),
    }
    for name, value in fields.items():
        at, layout = places[name]
        struct.pack_into(layout, data, at, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"phoff": 2**63}, "lies outside"),
        ({"phoff": 100}, "lies outside"),
        ({"phentsize": 57}, "size that does not exist"),
        ({"phnum": 0xFFFF}, "more than 65536"),
        ({"phnum": 0}, "without program headers"),
        ({"class": 3}, "does not exist"),
        ({"order": 0}, "does not exist"),
        ({"version": 9}, "does not exist"),
        ({"ehsize": 1}, "does not exist"),
        ({"filesz": 2**40}, "more than 65536"),
        ({"filesz": 500}, "lies outside"),
    ],
)
def test_an_elf_header_that_lies_is_refused_by_its_rule(
    fields: dict[str, int], rule: str, samples: dict[str, bytes]
) -> None:
    found = profile_file("solve", elf_with(samples, **fields))
    assert (found.kind, list(found.facts)[:2]) == ("executable", ["format", "refused"])
    assert rule in found.facts["refused"]


OTHERS: dict[str, tuple[bytes, str]] = {
    "pe elsewhere": (b"MZ\0" + bytes(57) + struct.pack("<I", 2**31), "lies outside"),
    "pe without signature": (b"MZ\0" + bytes(57) + struct.pack("<I", 64) + b"NE\0\0", "signature"),
    "universal of nothing": (struct.pack(">2I", 0xCAFEBABE, 0), "0 slices"),
    "universal of very many": (struct.pack(">2I", 0xCAFEBABE, 0xFFFFFFFF) + bytes(99), "slices"),
    "universal of itself": (
        struct.pack(">7I", 0xCAFEBABE, 1, 7, 0, 0, 28, 0), "overlap"),
    "mach-o commands": (b"\xcf\xfa\xed\xfe" + struct.pack("<7I", 7, 0, 2, 99, 8, 0, 0) + bytes(8),
                        "more load commands"),
    "mach-o command size": (
        b"\xcf\xfa\xed\xfe" + struct.pack("<11I", 7, 0, 2, 1, 16, 0, 0, 14, 4, 0, 0),
        "size that cannot be"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_headers_that_lie_are_refused_by_their_rule(name: str) -> None:
    data, rule = OTHERS[name]
    assert rule in profile_file("solve", data).facts["refused"]


def test_a_java_class_and_a_text_that_starts_with_mz_are_no_programs() -> None:
    java = b"\xca\xfe\xba\xbe" + struct.pack(">2H", 0, 61) + bytes(50)
    assert profile_file("A.class", java).facts["looks_like"] == "a Java class"
    assert profile_file("a.txt", b"MZ is a text\n" * 20).kind == "text"


SOURCES: dict[str, bytes] = {
    "parentheses": b"(" * 100_000,
    "minus": b"x=" + b"-" * 200_000 + b"1",
    "plus": b"x=1" + b"+0" * 300_000,
    "attributes": b"x=a" + b".b" * 300_000,
    "nul": b"x = 1\0",
    "utf-7": b"# coding: utf-7\nx = 1\n",
    "latin": b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
    "no utf-8": b"x = '\xff'\n",
    "digits": b"x = " + b"9" * 5000,
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_that_breaks_parsers_is_a_fault_or_dies_in_its_worker(
    name: str, tmp_path: Path
) -> None:
    from sciharness.profiles import profile

    (tmp_path / "a.py").write_bytes(SOURCES[name])
    found = profile(tmp_path / "a.py")
    assert found.kind in ("python", "opaque")
    assert found.warnings


def test_a_utf7_cookie_does_not_hide_a_statement() -> None:
    with pytest.raises(SourceFault, match="encoding utf-7"):
        parse_source(b"# coding: utf-7\n# +AAo-import os\n")


JSONS = {
    "nan": (b"[NaN]", "NaN is no JSON number"),
    "infinity": (b"[1e400]", "too large"),
    "twice": (b'{"a": 1, "a": 2}', "twice"),
    "deep": (b"[" * 100_000, "deep"),
    "digits": (b"[" + b"9" * 5000 + b"]", "5000 digits"),
    "utf-16": ('{"a": 1}'.encode("utf-16"), "UTF-8"),
    "surrogate": (b'{"\xed\xa0\x80": 1}', "UTF-8"),
    "bom": (b"\xef\xbb\xbf{}", "BOM"),
}


@pytest.mark.parametrize("name", JSONS)
def test_json_that_readers_take_in_several_ways_is_told(name: str) -> None:
    data, reason = JSONS[name]
    found = profile_file("a.json", data)
    assert found.kind == "json"
    assert reason in found.warnings[0]


def npy(header: bytes, body: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


ARRAYS = {
    "7 TiB": (
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }\n"),
        "cut",
    ),
    "object": (npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n"), "object"),
    "deep": (npy(b"(" * 9000), "dict"),
    "long": (b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31), "at most"),
    "code": (npy(b"{'descr': __import__('os').system('touch /tmp/x')}\n"), "dict"),
    "more": (
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n", bytes(9)),
        "after",
    ),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_that_lies_is_told_and_never_loaded(name: str) -> None:
    data, reason = ARRAYS[name]
    found = profile_file("a.npy", data)
    assert found.kind == "npy"
    assert reason in found.warnings[0]


SLOW: dict[str, tuple[str, bytes]] = {
    "digits before a letter": ("a.csv", b"x,y\n" + b"1" * 500_000 + b"x,1\n"),
    "many columns": ("a.csv", b",".join(b"c%d" % n for n in range(200_000)) + b"\n1\n"),
    "one long quote": ("a.csv", b'x,y\n1,"' + b"a" * 2_000_000),
    "many quotes": ("a.csv", b"x,y\n" + b'"",' * 1_000_000),
    "digits in json": ("a.json", b"[" + (b"1" * 299 + b",") * 20_000 + b"1]"),
    "digits in tfs": ("a.dat", b"@ NAME %" + b"1" * 60_000),
    "colons in a lattice": ("a.madx", b"a:" * 1_000_000),
    "cookies": ("a.py", b"#" + b"coding " * 300_000),
    "blank lines": ("a.py", b"\n" * 2_000_000),
    "open brackets": ("a.lte", b"(" * 2_000_000),
}


@pytest.mark.parametrize("name", SLOW)
def test_texts_that_make_patterns_slow_are_read_within_the_bound(name: str, tmp_path: Path) -> None:
    from sciharness.profiles import profile

    file_name, data = SLOW[name]
    (tmp_path / file_name).write_bytes(data)
    found = profile(tmp_path / file_name)
    assert not [text for text in found.warnings if "unparseable" in text]


def test_an_archive_of_very_many_entries_is_not_looked_at_one_by_one(
    tmp_path: Path,
) -> None:
    import zipfile

    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(6000):
            archive.writestr(f"{number}/" + "d/" * 100 + "f", b"")
    found = _child.profile_here(path)
    assert [one["rule"] for one in found.facts["solver_bundle"]["blocked_by"]] == ["files"]


def test_names_that_steer_a_terminal_are_shown_escaped() -> None:
    found = profile_file("a.csv", "a\x1b[2Jb,\u202ec,d\n1,2,3\n".encode())
    names = [one["name"] for one in found.facts["columns"]]
    assert "\x1b" not in "".join(names) and "\u202e" not in "".join(names)
    huge = profile_file("a.json", json.dumps({"k" * 10_000: 1}).encode())
    assert len(huge.facts["keys"][0]["name"]) <= 201


def test_a_bomb_in_gzip_is_bounded(tmp_path: Path) -> None:
    import gzip

    bomb = gzip.compress(bytes(100 * 2**20), 9)
    found = profile_file("ring.json.gz", bomb)
    assert found.kind == "opaque"
    assert "too large when inflated" in found.warnings[0]


def test_nothing_is_opened_for_writing_started_or_connected(written: Path) -> None:
    # An audit hook sees every import of a file, every process, every socket.
    (written / "canary.py").write_text("open('/tmp/was-run', 'w')\n")
    (written / "sitecustomize.py").write_text("raise SystemExit('imported')\n")
    code = AUDIT + "\nfor path in sys.argv[1:]: profile_here(Path(path))\nprint(json.dumps(seen))"
    paths = [str(path) for path in sorted(written.iterdir())]
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, *paths, str(written)],
        capture_output=True, text=True, check=False, cwd=written,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


AUDIT = """
import json, os, sys
from pathlib import Path
from sciharness.profiles._child import profile_here
import sciharness.profiles._files, sciharness.profiles._folders, sciharness.contextdata._npy
import sciharness.contextdata._survey, csv, zlib
from encodings import cp437, unicode_escape, utf_8_sig
seen = []
def heard(event, arguments):
    if event.startswith(("subprocess.", "socket.", "os.exec", "os.posix_spawn", "os.fork",
                         "os.system", "ctypes.dlopen", "exec", "import", "pickle.", "marshal.")):
        if event == "import" and not any(sys.argv[-1] in str(one) for one in arguments):
            return
        seen.append([event, str(arguments)[-160:]])
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        seen.append([event, str(arguments)[-160:]])
sys.addaudithook(heard)
"""


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_system_sees_no_program_no_socket_and_no_written_file(written: Path) -> None:
    trace = written.parent / f"{written.name}-trace"
    folder = written
    (folder / "run.sh").write_text("#!/bin/sh\ntouch /tmp/was-run\n")
    (folder / "run.sh").chmod(0o755)
    calls = "execve,execveat,socket,connect,openat,open,creat,unlink,rename,mkdir"
    code = "import sys\nfrom sciharness.profiles._child import main\nmain()"
    subprocess.run(
        ["strace", "-f", "-qq", "-e", f"trace={calls}", "-o", str(trace),
         sys.executable, "-I", "-B", "-c", code, str(folder)],
        capture_output=True, check=True,
    )  # fmt: skip
    lines = trace.read_text().splitlines()
    programs = [line for line in lines if "execve" in line and " = 0" in line]
    assert len(programs) == 1, programs
    assert not [line for line in lines if "socket(" in line or "connect(" in line]
    written_to = [
        line for line in lines if "O_WRONLY" in line or "O_RDWR" in line or "O_CREAT" in line
    ]
    assert not [line for line in written_to if "/dev/null" not in line], written_to


@pytest.fixture
def chosen(tmp_path: Path) -> Path:
    """A folder with another in it, and a secret beside it."""
    place, outside = tmp_path / "chosen", tmp_path / "outside"
    (place / "inner").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.py").write_text("TOP = 'SECRET'\n")
    (place / "inner" / "a.py").write_text("A = 1\n")
    return place


def test_a_folder_swapped_for_a_link_is_not_entered(
    chosen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_open = os.open

    def swapping_open(path: Any, flags: int, *words: Any, **named: Any) -> int:
        if path == "inner" and not (chosen / "inner").is_symlink():
            (chosen / "inner").rename(chosen / "kept")
            (chosen / "inner").symlink_to(chosen.parent / "outside")
        return plain_open(path, flags, *words, **named)

    monkeypatch.setattr(os, "open", swapping_open)
    with pytest.raises(HarnessError, match="rule: changed"):
        _child.profile_here(chosen)


def test_a_folder_swapped_again_and_again_never_leads_outside(chosen: Path) -> None:
    words = [sys.executable, "-c", SWAP, str(chosen / "inner"), str(chosen.parent / "outside")]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as swapping:
        assert swapping.stdout is not None
        swapping.stdout.readline()
        said = [_said_of(chosen) for _ in range(100)]
        swapping.kill()
    assert not [text for text in said if "secret" in text]


def _said_of(folder: Path) -> str:
    """Return a profile, or the refusal, as text."""
    try:
        return json.dumps(_child.profile_here(folder).to_dict())
    except HarnessError as fault:
        return str(fault)


SWAP = """
import os, sys
inner, outside = sys.argv[1:]
kept = os.path.join(os.path.dirname(inner), "kept")
print("ready", flush=True)
while True:
    try:
        os.rename(inner, kept); os.symlink(outside, inner)
        os.unlink(inner); os.rename(kept, inner)
    except OSError: pass
"""


def test_scanning_a_bomb_reads_little(samples: dict[str, bytes], tmp_path: Path) -> None:
    import zipfile

    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for number in range(8):
            archive.writestr(f"{number}", bytes(20 * 2**20))
    file = os.open(path, os.O_RDONLY)
    try:
        found = scan_zip(file)
    finally:
        os.close(file)
    assert {flaw.rule for flaw in found.flaws} == {"expansion"}
