"""ELF: the header, the program headers and the two segments that matter here."""

from __future__ import annotations

import struct

from sciharness.profiles._reading import Header, HeaderFault, Window, path_text

_MACHINES = {
    2: "sparc",
    3: "x86",
    8: "mips",
    20: "ppc",
    21: "ppc64",
    22: "s390",
    40: "arm",
    62: "x86-64",
    183: "arm64",
    243: "riscv",
    258: "loongarch",
}
_KINDS = {1: "object", 2: "executable", 3: "library", 4: "core"}
_INTERPRETER, _DYNAMIC = 3, 2
_FLAGS_1, _PIE = 0x6FFFFFFB, 0x08000000


def read_elf(window: Window) -> Header:
    """Return what an ELF header says."""
    ident = window.take(0, 16, "the ELF identification")
    wide = {1: False, 2: True}.get(ident[4])
    order = {1: "<", 2: ">"}.get(ident[5])
    if wide is None or order is None or ident[6] != 1:
        raise HeaderFault("an ELF class, byte order or version that does not exist")
    layout = order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH")
    fields = window.unpack(layout, 16, "the ELF header")
    kind, machine, version, _, table, _, _, size, entry, count = fields[:10]
    if version != 1 or size != (64 if wide else 52):
        raise HeaderFault("an ELF header of a version or size that does not exist")
    segments = _segments(window, order, wide, table, entry, count)
    interpreter = ""
    for segment, at, length in segments:
        if segment == _INTERPRETER:
            interpreter = path_text(window.take(at, length, "the interpreter"), "the interpreter")
    name = _KINDS.get(kind, "other")
    if kind == 3 and (interpreter or _is_pie(window, order, wide, segments)):
        name = "executable"
    if name == "executable" and not segments:
        raise HeaderFault("an ELF executable without program headers")
    return Header(
        format="elf",
        bits=64 if wide else 32,
        endianness="little" if order == "<" else "big",
        machine=_MACHINES.get(machine, f"number {machine}"),
        kind=name,
        interpreter=interpreter,
    )


def _segments(
    window: Window, order: str, wide: bool, table: int, entry: int, count: int
) -> list[tuple[int, int, int]]:
    """Return type, place and length in the file of each segment."""
    layout = order + ("IIQQQQQQ" if wide else "IIIIIIII")
    if count and entry != struct.calcsize(layout):
        raise HeaderFault("ELF program headers of a size that does not exist")
    raw = window.take(table, count * entry, "the table of ELF program headers") if count else b""
    fields = struct.iter_unpack(layout, raw)
    if wide:
        return [(one[0], one[2], one[5]) for one in fields]
    return [(one[0], one[1], one[4]) for one in fields]


def _is_pie(window: Window, order: str, wide: bool, segments: list[tuple[int, int, int]]) -> bool:
    """Return whether a shared object without interpreter is a static program all the same."""
    for segment, at, length in segments:
        if segment == _DYNAMIC:
            layout = order + ("QQ" if wide else "II")
            whole = length - length % struct.calcsize(layout)
            raw = window.take(at, whole, "the dynamic segment")
            pairs = struct.iter_unpack(layout, raw)
            return any(tag == _FLAGS_1 and value & _PIE for tag, value in pairs)
    return False
