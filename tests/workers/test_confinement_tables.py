"""The tables behind the confinement: rights by ABI, the filter by architecture."""

from __future__ import annotations

import ast
import errno
import struct
from pathlib import Path

import pytest

from sciharness.workers import landlock, seccomp

ALLOWED, DENIED = 0x7FFF0000, 0x00050000 | errno.EACCES
X86_64, AARCH64, I386 = 0xC000003E, 0xC00000B7, 0x40000003


@pytest.mark.parametrize(
    ("abi", "files", "network", "scopes", "size"),
    [
        # From the kernel's documentation: how many rights each ABI knows, and sizeof the structure.
        (1, 13, 0, 0, 8),
        (2, 14, 0, 0, 8),
        (3, 15, 0, 0, 8),
        (4, 15, 2, 0, 16),
        (5, 16, 2, 0, 16),
        (6, 16, 2, 2, 24),
        (7, 16, 2, 2, 24),
        (8, 16, 2, 2, 24),
        (9, 17, 2, 2, 24),
        (10, 17, 4, 2, 24),
        (11, 17, 4, 2, 24),
    ],
)
def test_every_right_of_an_abi_is_handled(
    abi: int, files: int, network: int, scopes: int, size: int
) -> None:
    assert landlock.file_rights(abi) == 2**files - 1
    assert landlock.network_rights(abi) == 2**network - 1
    assert landlock.scopes(abi) == 2**scopes - 1
    assert landlock.attribute_size(abi) == size


@pytest.mark.parametrize("abi", range(1, 12))
def test_an_independent_package_knows_the_same_rights(abi: int) -> None:
    oracle = pytest.importorskip("landlockpy.flags")

    assert landlock.file_rights(abi) == int(oracle.fs_for_abi(abi))
    assert landlock.network_rights(abi) == int(oracle.net_for_abi(abi))
    assert landlock.scopes(abi) == int(oracle.scope_for_abi(abi))


def verdict(code: bytes, architecture: int, number: int) -> int:
    """Run a filter as the kernel does, for the four instructions that it uses."""
    instructions = list(struct.iter_unpack("=HBBI", code))
    data = struct.pack("=II", number & 0xFFFFFFFF, architecture)
    position, loaded = 0, 0
    while True:
        kind, if_true, if_false, value = instructions[position]
        if kind == 0x06:
            return int(value)
        position += 1
        if kind == 0x20:
            (loaded,) = struct.unpack_from("=I", data, value)
        else:
            holds = loaded == value if kind == 0x15 else loaded >= value
            position += if_true if holds else if_false


@pytest.mark.parametrize(
    ("architecture", "x32", "denied", "allowed"),
    [
        # read, write, socketpair, connect, exit_group, futex, clone, execve
        (X86_64, True, (41, 101, 310, 425, 438), (0, 1, 53, 42, 231, 202, 56, 59)),
        (AARCH64, False, (198, 117, 270, 425, 438), (63, 64, 199, 203, 94, 98, 220, 221)),
    ],
)
def test_the_filter_denies_what_it_lists(
    architecture: int, x32: bool, denied: tuple[int, ...], allowed: tuple[int, ...]
) -> None:
    code = seccomp.program(architecture, list(denied), x32=x32)

    assert {verdict(code, architecture, number) for number in denied} == {DENIED}
    assert {verdict(code, architecture, number) for number in allowed} == {ALLOWED}


def test_calls_of_another_architecture_are_denied() -> None:
    code = seccomp.program(X86_64, [41], x32=True)

    assert verdict(code, I386, 3) == DENIED
    assert verdict(code, X86_64, 0x40000000 + 1) == DENIED


def test_modules_import_on_systems_that_are_not_posix() -> None:
    posix_only = {"fcntl", "grp", "pwd", "resource", "termios"}
    folder = Path(landlock.__file__).parent
    found = {
        name.name
        for path in sorted(folder.glob("*.py"))
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Import)
        for name in node.names
    }

    assert not found & posix_only
