"""Errors of the whole project: each carries a kind, an exit code and a hint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar


class HarnessError(Exception):
    """A refusal or failure that a person can act on.

    ``where`` names the place (file, plugin, field), the message says what was
    found against what was expected, ``hint`` says what to do next. ``problems``
    holds the single findings when several were made at once; each is a record
    with the fields of a problem in ``--json`` output.
    """

    kind: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 8

    def __init__(
        self,
        message: str,
        *,
        where: str = "",
        hint: str = "",
        problems: Sequence[Any] = (),  # Any: problem records belong to the kernel, above this layer
    ) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint
        self.problems = tuple(problems)

    def __str__(self) -> str:
        head = f"{self.where}: {self.message}" if self.where else self.message
        if not self.hint:
            return head
        stop = "" if head.endswith((".", "!", "?")) else "."
        return f"{head}{stop} {self.hint}"


class UsageError(HarnessError):
    """The command line itself is wrong."""

    kind = "usage"
    exit_code = 2


class ContractError(HarnessError):
    """A contract, lock or request is refused."""

    kind = "contract"
    exit_code = 3


class RequestError(ContractError):
    """The parameters of an operation do not fit its request schema."""

    kind = "request"


class DataError(HarnessError):
    """An input file is refused."""

    kind = "data"
    exit_code = 3


class WaitingError(HarnessError):
    """A person has to answer before work can go on."""

    kind = "waiting"
    exit_code = 4


class BudgetError(HarnessError):
    """A budget limit is reached."""

    kind = "budget"
    exit_code = 5


class DeliveryError(HarnessError):
    """The research succeeded, its delivery did not."""

    kind = "delivery"
    exit_code = 6


class IntegrityError(HarnessError):
    """Bytes, digests, admissions or the record are not what they have to be."""

    kind = "integrity"
    exit_code = 7


class PluginError(HarnessError):
    """An admitted plugin does not load or does not keep its contract."""

    kind = "plugin"
    exit_code = 8


class NotInstalledError(ContractError):
    """No installed distribution offers the plugin."""


class NotAdmittedError(IntegrityError):
    """The plugin is installed, but this installation has not admitted it."""


class WrongVersionError(IntegrityError):
    """Another version than the pinned or admitted one is installed."""


class DigestDiffersError(IntegrityError):
    """The installed bytes are not those that were pinned or admitted."""


class EditableError(IntegrityError):
    """The plugin is an editable install, whose bytes nothing vouches for."""


class TwoClaimantsError(IntegrityError):
    """Two distributions claim one plugin ID."""
