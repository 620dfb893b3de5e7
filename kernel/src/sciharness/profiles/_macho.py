"""Mach-O: the headers of macOS programs, alone and several in one universal file."""

from __future__ import annotations

import struct

from sciharness.profiles._reading import TABLE_BYTES, Header, HeaderFault, Window, path_text

_MACHINES = {7: "x86", 0x01000007: "x86-64", 12: "arm", 0x0100000C: "arm64", 18: "ppc"}
_KINDS = {1: "object", 2: "executable", 4: "core", 6: "library", 8: "library"}
_LAYOUTS = {
    b"\xfe\xed\xfa\xce": (">", 32),
    b"\xfe\xed\xfa\xcf": (">", 64),
    b"\xce\xfa\xed\xfe": ("<", 32),
    b"\xcf\xfa\xed\xfe": ("<", 64),
}
_LOADER = 0xE
_MOST_SLICES = 16
_JAVA = range(43, 200)  # a Java class starts with the same four bytes; its version stands next


def read_macho(window: Window) -> Header:
    """Return what a Mach-O header says."""
    order, bits = _LAYOUTS[window.take(0, 4, "the Mach-O header")]
    machine, _, kind, count, length, _ = window.unpack(order + "6I", 4, "the Mach-O header")
    start = 32 if bits == 64 else 28
    commands = window.take(start, length, "the table of load commands")
    interpreter = ""
    for command, body in _commands(commands, order, count):
        if command == _LOADER:
            (at,) = struct.unpack_from(order + "I", body, 8) if len(body) >= 12 else (len(body),)
            interpreter = path_text(body[at:] if at >= 12 else b"", "the interpreter")
    return Header(
        format="mach-o",
        bits=bits,
        endianness="little" if order == "<" else "big",
        machine=_MACHINES.get(machine, f"number {machine}"),
        kind=_KINDS.get(kind, "other"),
        interpreter=interpreter,
    )


def read_universal(window: Window) -> Header | None:
    """Return the headers of all slices; ``None`` for a Java class."""
    magic, count = window.unpack(">2I", 0, "the universal header")
    wide = magic == 0xCAFEBABF
    if count & 0xFFFF in _JAVA and not wide:
        return None
    if not 1 <= count <= _MOST_SLICES:
        raise HeaderFault(f"{count} slices, expected 1 to {_MOST_SLICES}")
    layout = ">2I2Q2I" if wide else ">5I"
    raw = window.take(8, count * struct.calcsize(layout), "the table of slices")
    places = [(one[2], one[3], one[0]) for one in struct.iter_unpack(layout, raw)]
    end = 8 + len(raw)
    slices = []
    for at, size, machine in sorted(places):
        if at < end:
            raise HeaderFault("slices that overlap")
        slices.append(_slice(window.part(at, size, "a slice"), machine))
        end = at + size
    kinds = {one.kind for one in slices}
    return Header(
        "mach-o universal", kind=kinds.pop() if len(kinds) == 1 else "other", slices=tuple(slices)
    )


def _slice(window: Window, machine: int) -> Header:
    if window.peek(4) not in _LAYOUTS:
        raise HeaderFault("a slice that is no Mach-O program")
    header = read_macho(window)
    if header.machine != _MACHINES.get(machine, f"number {machine}"):
        raise HeaderFault("a slice for another machine than its table says")
    return header


def _commands(table: bytes, order: str, count: int) -> list[tuple[int, bytes]]:
    found = []
    at = 0
    if count * 8 > min(len(table), TABLE_BYTES):
        raise HeaderFault("more load commands than have room")
    for _ in range(count):
        if at + 8 > len(table):
            raise HeaderFault("a load command lies outside of its table")
        command, size = struct.unpack_from(order + "2I", table, at)
        if size < 8 or at + size > len(table):
            raise HeaderFault("a load command of a size that cannot be")
        found.append((command, table[at : at + size]))
        at += size
    return found
