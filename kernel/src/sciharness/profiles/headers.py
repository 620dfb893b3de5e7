"""Headers of native programs: ELF, PE and Mach-O, read without running or loading anything.

At most the first 4 KiB and tables of 64 KiB that the header declares are
read. A header that contradicts itself or its file is refused by the rule that
it breaks, never guessed at.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable

from attrs import frozen

from sciharness.profiles._elf import read_elf
from sciharness.profiles._macho import read_macho, read_universal
from sciharness.profiles._pe import read_pe
from sciharness.profiles._reading import Header, HeaderFault, Window

__all__ = ["Header", "header_of", "read_header", "runs_here"]

_MACHO = (b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe")
_UNIVERSAL = (b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf")


@frozen
class _Format:
    name: str
    read: Callable[[Window], Header | None]


def read_header(window: Window) -> Header | None:
    """Return the header of a native program, ``None`` if it is none; ``refused`` says why not."""
    found = _format_of(window.peek(4))
    if found is None:
        return None
    try:
        return found.read(window)
    except HeaderFault as fault:
        return Header(format=found.name, refused=str(fault))


def header_of(file: int) -> Header | None:
    """Return the header of an open file."""
    return read_header(Window(lambda at, count: os.pread(file, count, at), os.fstat(file).st_size))


def runs_here(header: Header) -> bool:
    """Return whether this machine can start a program with such a header, as far as it tells."""
    if header.refused or header.kind != "executable":
        return False
    if header.slices:
        return any(runs_here(one) for one in header.slices)
    own = {"linux": "elf", "darwin": "mach-o", "win32": "pe"}.get(sys.platform)
    machine = platform.machine().lower().replace("amd64", "x86-64").replace("x86_64", "x86-64")
    machines = {machine.replace("aarch64", "arm64")}
    if machines == {"x86-64"}:
        machines.add("x86")
    return header.format == own and header.machine in machines


def _format_of(magic: bytes) -> _Format | None:
    if magic == b"\x7fELF":
        return _Format("elf", read_elf)
    if magic[:2] == b"MZ":
        return _Format("pe", read_pe)
    if magic in _MACHO:
        return _Format("mach-o", read_macho)
    if magic in _UNIVERSAL:
        return _Format("mach-o universal", read_universal)
    return None
