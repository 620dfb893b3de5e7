"""PE: the headers of Windows programs and libraries."""

from __future__ import annotations

from sciharness.profiles._reading import Header, HeaderFault, Window

_MACHINES = {0x14C: "x86", 0x8664: "x86-64", 0x1C0: "arm", 0x1C4: "arm", 0xAA64: "arm64"}
_BITS = {0x10B: 32, 0x20B: 64}
_RUNS, _LIBRARY = 0x0002, 0x2000
_SECTIONS = 96  # what the Windows loader takes
_SECTION_BYTES = 40


def read_pe(window: Window) -> Header:
    """Return what a PE header says; a program for DOS has none."""
    (place,) = window.unpack("<I", 60, "the DOS header")
    if place == 0:
        return Header("pe", 16, "little", "x86", "other")
    if window.take(place, 4, "the PE signature") != b"PE\0\0":
        raise HeaderFault("no PE signature where the DOS header says")
    machine, sections, _, _, _, optional, flags = window.unpack(
        "<HHIIIHH", place + 4, "the PE file header"
    )
    if sections > _SECTIONS:
        raise HeaderFault(f"{sections} PE sections, more than {_SECTIONS}")
    window.take(place + 24 + optional, sections * _SECTION_BYTES, "the table of PE sections")
    name = _MACHINES.get(machine, f"number {machine:#x}")
    if not flags & _RUNS:
        return Header("pe", 0, "little", name, "object")
    (magic,) = window.unpack("<H", place + 24, "the optional PE header")
    if magic not in _BITS or optional < 2:
        raise HeaderFault("an optional PE header of a kind that does not exist")
    kind = "library" if flags & _LIBRARY else "executable"
    return Header("pe", _BITS[magic], "little", name, kind)
