"""The package of a solver and its adapter: their files and a small module to call them."""

from __future__ import annotations

from collections.abc import Mapping

from sciharness_publisher.generated import Json, package_files, package_wheel
from sciharness_publisher.wheels import WheelPlan

OPERATION = "solve"


def adapter_wheel(
    plugin_id: str, version: str, files: Mapping[str, bytes], inside: bytes, record: Json
) -> WheelPlan:
    """Return the plan of the wheel that holds a solver and its adapter.

    ``files`` are bundle, adapter and record of the smoke test by name,
    ``record`` is that record, ``inside`` the statement that the package carries.
    """
    return package_wheel(
        plugin_id,
        version,
        adapter_payload(plugin_id, version, files, record),
        inside,
        summary=f"Solver {record['solver_executable']} behind an adapter, packed by sciharness",
    )


def adapter_payload(
    plugin_id: str, version: str, files: Mapping[str, bytes], record: Json
) -> dict[str, bytes]:
    """Return the files of the import package but for its statement, by path."""
    said = {
        "operation": OPERATION,
        "protocol": record["interface"],
        "executable": record["solver_executable"],
        "table": record.get("table"),
        "statements": record.get("statements", []),
    }
    return package_files(plugin_id, version, files, _SOLVER, said)


_SOLVER = '''\
"""A solver behind its adapter: `solve` for files, a command that does the same.

It runs with the rights of whoever calls it. Digests and attestation state from which three
artifacts it came; nobody has looked into the binary.
"""

import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def solve(source, output, **options):
    """Solve the file `source` into the file `output` and return the process that did it."""
    said = json.loads((HERE / "plugin.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "solver")
        unpack(HERE / "solver.tar", root)
        command = [sys.executable, str(HERE / "adapter.py"), "--solver-root", str(root)]
        command += ["--solver-executable", said["executable"]]
        return subprocess.run([*command, "--input", source, "--output", output], **options)


def unpack(archive, root):
    """Write the plain files of an archive below the new folder `root`; nothing else is."""
    with tarfile.open(archive, "r:") as members:
        for member in members:
            parts = Path(member.name).parts
            if not member.isreg() or member.name.startswith("/") or ".." in parts:
                raise ValueError(f"{member.name!r} is no plain file of a folder")
            target = root.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(target, "xb") as sink:
                sink.write(members.extractfile(member).read())


def main():
    """Solve INPUT into OUTPUT."""
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(f"usage: {Path(sys.argv[0]).name} INPUT OUTPUT")
        return 0 if sys.argv[1:2] in (["-h"], ["--help"]) else 2
    return solve(sys.argv[1], sys.argv[2]).returncode
'''
