"""Landlock through its system calls: file system, network and scope restrictions of one process.

Linux only, by own ctypes code, so that it can run before anything else is
imported. Below ABI 8 only the calling thread is bound, hence callers restrict
themselves while they have one thread. It cannot be lifted afterwards.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable

# The numbers are the same on every architecture (Linux UAPI, asm-generic).
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_CLONE_THREAD = 0x10000
_SCOPE_SIGNAL = 1 << 1

EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
REMOVE_DIR = 1 << 4
REMOVE_FILE = 1 << 5
MAKE_DIR = 1 << 7
MAKE_REG = 1 << 8
MAKE_SOCK = 1 << 9
MAKE_FIFO = 1 << 10
MAKE_SYM = 1 << 12
REFER = 1 << 13
TRUNCATE = 1 << 14
IOCTL_DEV = 1 << 15

READ = READ_FILE | READ_DIR
RUN = READ | EXECUTE
CHANGE = (
    READ
    | WRITE_FILE
    | TRUNCATE
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_DIR
    | MAKE_REG
    | MAKE_SOCK
    | MAKE_FIFO
    | MAKE_SYM
    | REFER
)
DEVICE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV
# Semaphores and shared memory are made by name; nobody has to list the names of others.
SHARED_MEMORY = READ_FILE | WRITE_FILE | TRUNCATE | MAKE_REG | REMOVE_FILE

_FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV


class _RulesetAttr(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneathAttr(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def abi() -> int:
    """Return the Landlock ABI of the running kernel, 0 where there is none.

    Asked of the system call itself: a version number or ``/sys`` says nothing
    about what a boot option or a container took away.
    """
    if os.name != "posix" or not hasattr(os, "O_PATH"):
        return 0
    try:
        return max(0, _syscall(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION))
    except OSError:
        return 0


def file_rights(version: int) -> int:
    """Return every file-system right that ABI ``version`` can restrict."""
    highest = {1: 12, 2: 13, 3: 14, 4: 14, 5: 15, 6: 15, 7: 15, 8: 15}.get(version, 16)
    return (1 << (highest + 1)) - 1


def network_rights(version: int) -> int:
    """Return every network right that ABI ``version`` can restrict: TCP from 4, UDP from 10."""
    if version < 4:
        return 0
    return 0b11 if version < 10 else 0b1111


def scopes(version: int) -> int:
    """Return every scope of ABI ``version``: abstract sockets and signals from 6."""
    return 0b11 if version >= 6 else 0


def attribute_size(version: int) -> int:
    """Return how many bytes of the ruleset structure ABI ``version`` knows."""
    if version < 4:
        return 8
    return 16 if version < 6 else 24


def restrict(rules: Iterable[tuple[str, int]], *, sockets: bool) -> None:
    """Bind this process, for good, to the rules ``(path, rights)``; all else is denied.

    A path that does not exist is skipped. With ``sockets`` the network and
    abstract sockets stay open; signals to outside stay closed.

    Raises:
        OSError: the kernel refused a step; the process is then not restricted.
    """
    version = abi()
    handled = file_rights(version)
    attribute = _RulesetAttr(
        handled & ~(1 << 16) if sockets else handled,
        0 if sockets else network_rights(version),
        scopes(version) & ~1 if sockets else scopes(version),
    )
    ruleset = _syscall(_CREATE_RULESET, ctypes.byref(attribute), attribute_size(version), 0)
    try:
        for path, rights in rules:
            _add(ruleset, path, rights & handled)
        no_new_privileges()
        _syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def scope_signals() -> bool:
    """Let this process and its children signal each other only; return whether that holds.

    It takes ABI 6, and a parent of the same user, which stays outside: that it
    cannot be reached any more shows that it holds.
    """
    version = abi()
    if version < 6 or not _reaches_parent():
        return False
    attribute = _RulesetAttr(0, 0, _SCOPE_SIGNAL)
    try:
        ruleset = _syscall(_CREATE_RULESET, ctypes.byref(attribute), attribute_size(version), 0)
        try:
            no_new_privileges()
            _syscall(_RESTRICT_SELF, ruleset, 0)
        finally:
            os.close(ruleset)
    except OSError:
        return False
    return not _reaches_parent()


def _reaches_parent() -> bool:
    try:
        os.kill(os.getppid(), 0)
    except OSError:
        return False
    return True


def no_new_privileges() -> None:
    """Give up gaining rights by set-user-ID programs; Landlock and seccomp ask for it."""
    if _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")


def is_single_threaded() -> bool:
    """Return whether this process has one thread, asked of the kernel without /proc."""
    # unshare(2): a no-op for a process with one thread, EINVAL for any other.
    return int(_libc().unshare(_CLONE_THREAD)) == 0


def _add(ruleset: int, path: str, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # missing, or hidden from this user anyway
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= _FILE_RIGHTS  # folder rights on a file are EINVAL
        rule = _PathBeneathAttr(rights, handle)
        if rights:
            _syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(handle)


def _syscall(number: int, *arguments: object) -> int:
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = int(_libc().syscall(ctypes.c_long(number), *converted))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"landlock system call {number}")
    return result


def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library
