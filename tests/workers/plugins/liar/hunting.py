"""Every way to a secret we know of; run confined, none may find it."""

import contextlib
import os
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

SECRET = "SECRET-LABEL"


def hunt(clues: Mapping[str, str], workspace: Path) -> list[str]:
    """Return the names of the ways that found the secret.

    ``clues`` gives ``secret``, the file's path, and the addresses of helpers
    outside that hand it over: ``unix``, ``abstract``, ``tcp``.
    """
    secret = Path(clues["secret"])
    ways: dict[str, Callable[[], object]] = {
        "open": lambda: secret.read_text("utf-8"),
        "walk": lambda: walk(secret.parent.parent),
        "relative": lambda: relative(secret),
        "link": lambda: linked(secret, workspace / "link"),
        "hard link": lambda: hard_linked(secret, workspace / "hard"),
        "folder descriptor": lambda: by_descriptor(secret),
        "parent's root": lambda: Path(f"/proc/{os.getppid()}/root{secret}").read_text("utf-8"),
        "own root": lambda: Path(f"/proc/self/root{secret}").read_text("utf-8"),
        "parent's environment": lambda: environments(),
        "cat": lambda: run("cat", str(secret)),
        "interpreter": lambda: run(sys.executable, "-c", f"print(open({str(secret)!r}).read())"),
        "new session": lambda: run("setsid", "cat", str(secret)),
        "thread": lambda: in_thread(secret),
        "sqlite": lambda: attached(secret),
        "unix socket": lambda: ask(socket.AF_UNIX, clues["unix"]),
        "abstract socket": lambda: ask(socket.AF_UNIX, "\0" + clues["abstract"]),
        "tcp": lambda: ask(socket.AF_INET, ("127.0.0.1", int(clues["tcp"]))),
    }
    found = []
    for name, way in ways.items():
        with contextlib.suppress(Exception):
            if SECRET in str(way()):
                found.append(name)
    return found


def walk(root: Path) -> str:
    texts = []
    for folder, _, names in os.walk(root):
        for name in names:
            with contextlib.suppress(OSError):
                texts.append(Path(folder, name).read_text("utf-8", "replace"))
    return "".join(texts)


def relative(secret: Path) -> str:
    here = os.getcwd()
    try:
        os.chdir(secret.parent)
        return Path(secret.name).read_text("utf-8")
    finally:
        os.chdir(here)


def linked(secret: Path, link: Path) -> str:
    link.symlink_to(secret)
    return link.read_text("utf-8")


def hard_linked(secret: Path, link: Path) -> str:
    link.hardlink_to(secret)
    return link.read_text("utf-8")


def by_descriptor(secret: Path) -> bytes:
    folder = os.open(secret.parent, os.O_PATH)
    return os.read(os.open(secret.name, os.O_RDONLY, dir_fd=folder), 1000)


def environments() -> str:
    return Path(f"/proc/{os.getppid()}/environ").read_text("utf-8", "replace")


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def in_thread(secret: Path) -> str:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(secret.read_text("utf-8")))
    thread.start()
    thread.join()
    return found[0]


def attached(secret: Path) -> str:
    database = sqlite3.connect(f"file:{secret.with_name('labels.db')}?immutable=1", uri=True)
    return str(database.execute("SELECT y FROM labels").fetchall())


def ask(family: int, address: object) -> bytes:
    with socket.socket(family) as connection:
        connection.settimeout(2)
        connection.connect(address)  # type: ignore[arg-type]
        return connection.recv(1000)
