"""A small seccomp filter: the system calls that would reach around Landlock fail.

Landlock before ABI 9 leaves unix path sockets open, so an unconfined program
of the same user could hand a secret over; io_uring, ptrace and the calls that
take memory or descriptors from other processes are closed for the same reason.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

from sciharness.workers.landlock import no_new_privileges

_PR_GET_SECCOMP, _PR_SET_SECCOMP = 21, 22
_MODE_FILTER = 2
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_EACCES = 13

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET = 0, 4
_X32_BIT = 0x40000000

_SOCKET = {"x86_64": 41, "aarch64": 198}
_AUDIT_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# ptrace, process_vm_readv, process_vm_writev, kcmp, open_by_handle_at, bpf,
# perf_event_open, userfaultfd, add_key, request_key, keyctl
_DENIED = {
    "x86_64": (101, 310, 311, 312, 304, 321, 298, 323, 248, 249, 250),
    "aarch64": (117, 270, 271, 272, 265, 280, 241, 282, 217, 218, 219),
}
# io_uring_setup, io_uring_enter, io_uring_register, pidfd_getfd: one number everywhere
_DENIED_EVERYWHERE = (425, 426, 427, 438)


class _Program(ctypes.Structure):
    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def machine() -> str:
    """Return the architecture of this process, ``""`` where no filter is known for it."""
    if not sys.platform.startswith("linux"):
        return ""
    name = os.uname().machine
    # A 32-bit interpreter on a 64-bit kernel has other call numbers.
    return name if name in _SOCKET and sys.maxsize > 2**32 else ""


def available() -> bool:
    """Return whether :func:`restrict` can work here, asked of the kernel."""
    if not machine():
        return False
    return int(ctypes.CDLL(None).prctl(_PR_GET_SECCOMP, 0, 0, 0, 0)) >= 0


def restrict(*, sockets: bool) -> None:
    """Let the listed system calls of this process and its children fail with EACCES, for good.

    With ``sockets`` the call ``socket`` stays allowed.

    Raises:
        OSError: the kernel refused the filter.
    """
    name = machine()
    denied = [*_DENIED[name], *_DENIED_EVERYWHERE]
    if not sockets:
        denied.append(_SOCKET[name])
    code = program(_AUDIT_ARCHITECTURE[name], denied, x32=name == "x86_64")
    no_new_privileges()
    library = ctypes.CDLL(None, use_errno=True)
    loaded = _Program(len(code) // 8, code)
    if library.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(loaded), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_SECCOMP)")


def program(architecture: int, denied: list[int], *, x32: bool) -> bytes:
    """Return the BPF code; a call of a foreign architecture is denied as a whole."""
    # Jumps count the instructions to skip: `deny` is the last but one, `allow` the last.
    checks = [(_JUMP_EQUAL, number) for number in denied]
    if x32:
        checks.insert(0, (_JUMP_AT_LEAST, _X32_BIT))
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE_OFFSET),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _ERRNO | _EACCES),
        (_LOAD, 0, 0, _NUMBER_OFFSET),
    ]
    for position, (kind, number) in enumerate(checks):
        code.append((kind, len(checks) - position, 0, number))
    code.append((_RETURN, 0, 0, _ALLOW))
    code.append((_RETURN, 0, 0, _ERRNO | _EACCES))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
