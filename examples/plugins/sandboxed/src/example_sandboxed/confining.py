"""What this machine can do, found out by trying it.

Files and network are confined by sciharness itself, by Landlock and seccomp,
or not at all; this plugin only refuses to go on without. Namespaces come on
top: the program sees no other processes, no network device, no shared memory
of others. They are made by `unshare`, not by bubblewrap: bubblewrap mounts a
file system of its own, which Landlock forbids to confined processes.
"""

import shutil
from pathlib import Path

from sciharness.programs import ActionFailed, Grants, Limits, isolation, run_child

_ALONE = ("--pid", "--fork", "--kill-child", "--ipc", "--uts", "--net")
_MOUNTS = ("--mount", "--propagation", "unchanged")
# From most to least; a user namespace of its own makes the others possible without rights.
_TRIED = (
    ("--user", *_ALONE, "--cgroup", *_MOUNTS),
    ("--user", *_ALONE, *_MOUNTS),
    (*_ALONE, *_MOUNTS),
)


def check_confinement() -> None:
    """Refuse where a program could read the user's files or reach the network."""
    level = isolation()
    if level != "landlock+seccomp":
        lacking = {"landlock": "the network stays open", "none": "nothing is confined"}
        raise ActionFailed(
            f"refused: {lacking.get(level, level)} on this machine ({level}); "
            "the executor `local` would start the program all the same"
        )


def namespaces(workspace: Path) -> tuple[str, ...]:
    """Return the words that give a program namespaces of its own, none if the system refuses."""
    unshare = shutil.which("unshare", path="/usr/bin:/bin")
    if unshare is None:
        return ()
    for options in _TRIED:
        prefix = (unshare, *options)
        tried = run_child(
            [*prefix, "/bin/true"],
            cwd=workspace,
            limits=Limits(wall_seconds=20.0),
            grants=Grants(write=(workspace,)),
        )
        if tried.returncode == 0:
            return prefix
    return ()
