"""The lock beside a contract: which exact capabilities, contract and inputs a run stands on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import asdict, field, frozen

from sciharness.contract.document import Document, load_document
from sciharness.contract.findings import Findings
from sciharness.contract.paths import show_path
from sciharness.contract.scalars import BROKEN, OneOf, Text
from sciharness.contract.shapes import Field, MapOf, Record
from sciharness.errors import ContractError, IntegrityError
from sciharness.problems import Problem
from sciharness_catalog.canonical import canonical_json

SCHEMA = "contract-lock-v1"

_DIGEST = Text("a SHA-256 in hex", "[0-9a-f]{64}")
_SHAPE = Record(
    {
        "schema": Field(OneOf((SCHEMA,)), required=True),
        "contract": Field(_DIGEST, "Digest of the contract.", required=True),
        "inputs": Field(MapOf(_DIGEST), "Digests of the inputs.", required=True),
        "pins": Field(MapOf(Text("a pin")), "Pins by capability or part.", required=True),
    }
)
_UPDATE = "If the change is meant, run `harness lock {contract} --update`."


@frozen
class Lock:
    """Digests of contract and inputs, and the pins of all that is used.

    ``pins`` maps capability names (and ``reasoner``, ``executor``, publishers
    and reviewers by their names) to pin texts.
    """

    contract: str
    inputs: Mapping[str, str] = field(factory=dict)
    pins: Mapping[str, str] = field(factory=dict)

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the lock as JSON values."""
        return {"schema": SCHEMA, **asdict(self)}

    def to_text(self) -> str:
        """Return the lock as its file holds it."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True) + "\n"


def lock_path(contract: Path) -> Path:
    """Return where the lock of a contract lies: ``contract.lock`` for ``contract.yaml``."""
    return contract.with_suffix(".lock")


def contract_digest(document: Document) -> str:
    """Return the SHA-256 of what a contract says; comments and layout do not count."""
    return hashlib.sha256(canonical_json(document.value)).hexdigest()


def read_lock(path: Path) -> Lock | None:
    """Return the lock in the file ``path``, ``None`` if there is none.

    Raises:
        ContractError: the file is no lock.
    """
    if not path.exists():
        return None
    document = load_document(path)
    findings = Findings(document)
    values = _SHAPE.read(document.value, (), findings)
    if values is BROKEN or findings.problems:
        raise ContractError(
            "this is no lock file",
            where=str(path),
            hint="Remove it, or write it anew with `harness lock CONTRACT --update`.",
            problems=findings.problems,
        )
    return Lock(values["contract"], values["inputs"], values["pins"])


def write_lock(path: Path, lock: Lock, contract: str = "CONTRACT") -> None:
    """Write a lock where none is; an equal one may be there already.

    ``contract`` names the contract in what a refusal says to do.

    Raises:
        IntegrityError: another lock is there and says something else.
        ContractError: the file cannot be written.
    """
    with _staged(path, lock) as staged:
        try:
            os.link(staged, path)
        except FileExistsError:
            check_lock(path, lock, contract)
        except OSError:  # a file system without links
            check_lock(path, lock, contract)
            os.replace(staged, path)


def update_lock(path: Path, lock: Lock) -> None:
    """Put a lock in the place of what is there.

    Raises:
        ContractError: the file cannot be written.
    """
    with _staged(path, lock) as staged:
        os.replace(staged, path)


def check_lock(path: Path, current: Lock, contract: str = "CONTRACT") -> None:
    """Compare the lock at ``path``, if there is one, with what is at hand now.

    Raises:
        IntegrityError: something changed; ``problems`` name each pin and digest.
        ContractError: the file is no lock.
    """
    locked = read_lock(path)
    changes = drift(locked, current, str(path), contract) if locked is not None else ()
    if changes:
        named = ", ".join(problem.path for problem in changes)
        raise IntegrityError(
            f"no longer what was locked: {named}",
            where=str(path),
            hint=_UPDATE.format(contract=contract),
            problems=changes,
        )


def drift(
    locked: Lock, current: Lock, where: str = "contract.lock", contract: str = "CONTRACT"
) -> tuple[Problem, ...]:
    """Return one problem for each pin or digest that differs from the lock."""
    pairs = [("contract", locked.contract, current.contract, _CONTRACT_FOLLOWS)]
    pairs += _pairs("inputs", locked.inputs, current.inputs, _INPUT_FOLLOWS)
    pairs += _pairs("pins", locked.pins, current.pins, _PIN_FOLLOWS)
    update = _UPDATE.format(contract=contract)
    return tuple(
        Problem("integrity", where, None, None, path, found, expected, f"{follows} {update}")
        for path, expected, found, follows in pairs
        if expected != found
    )


def _pairs(
    section: str, locked: Mapping[str, str], current: Mapping[str, str], follows: str
) -> list[tuple[str, str, str, str]]:
    return [
        (
            show_path((section, name)),
            locked.get(name, "not in the lock"),
            current.get(name, "no longer used"),
            follows,
        )
        for name in sorted(locked.keys() | current.keys())
    ]


_CONTRACT_FOLLOWS = (
    "The contract says something else than when it was locked: a new run starts, "
    "and looks at the same final labels stay counted."
)
_INPUT_FOLLOWS = (
    "The file changed: its new bytes are split anew, and looks at their final labels count anew."
)
_PIN_FOLLOWS = "The installed implementation is another one: earlier results are not comparable."


@contextlib.contextmanager
def _staged(path: Path, lock: Lock) -> Iterator[Path]:
    """Give a complete, durable file beside ``path`` and take away what is left of it."""
    name = ""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(lock.to_text())
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o644)
        yield Path(name)
    except OSError as fault:
        raise ContractError(
            f"cannot be written: {fault.strerror}",
            where=str(path),
            hint="The lock lies beside the contract; make that folder writable.",
        ) from fault
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)
