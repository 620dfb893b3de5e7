"""Records of a run: staged inputs, artifacts, actions, looks at the holdout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import cattrs
from attrs import asdict, field, frozen

from sciharness.contract.records import Criterion
from sciharness.plugin import Table

Record = TypeVar("Record")

# The views of an input: which of its rows or bytes an operation may see.
TRAIN = "train"
VERIFICATION = "verification"
FINAL = "final"
WHOLE = "whole"

BUNDLE = ".tar"  # extension of the archive that holds an input folder


@frozen
class ArtifactRef:
    """An immutable artifact of a run and where it came from.

    ``action`` is the index of the producing action, -1 for an input;
    ``step`` the step's ID or the input's name.
    """

    id: str
    name: str
    type: str
    sha256: str
    size: int
    action: int = -1
    step: str = ""


@frozen
class SealedTarget:
    """What was sealed of a labelled input, and how it was split."""

    target: str
    reason: str
    rows_train: int
    rows_final: int
    split: str
    rows_verification: int = 0
    facts: Mapping[str, Any] = field(factory=dict)  # Any: JSON values of the table reader

    def to_dict(self) -> dict[str, object]:
        """Return the entry of ``sealed_holdout_targets`` in ``--json`` output."""
        return {
            "target": self.target,
            "reason": self.reason,
            "rows_train": self.rows_train,
            "rows_final": self.rows_final,
            "rows_verification": self.rows_verification,
            "split": self.split,
        }


@frozen
class StagedInput:
    """An input of the run: digest of the source bytes and what may be seen of it."""

    name: str
    role: str
    type: str
    sha256: str
    size: int
    views: Mapping[str, ArtifactRef] = field(factory=dict)
    table: Table | None = None
    sealed: SealedTarget | None = None
    meta: Mapping[str, Any] = field(factory=dict)  # Any: JSON values


@frozen
class ActionRecord:
    """One action: what ran, with which request and inputs, and how it ended.

    ``status`` is ``started``, ``stopped`` (to be run again), ``finished``,
    ``failed`` or ``refused``. ``time_limit`` is when it was asked to stop, in
    seconds, by its request or by what was left of the run's wall time.
    """

    index: int
    step: str
    capability: str
    status: str
    pin: str = ""
    request: Mapping[str, Any] = field(factory=dict)  # Any: JSON values
    inputs: Mapping[str, Any] = field(factory=dict)
    reason: str = ""
    message: str = ""
    notes: tuple[str, ...] = ()
    usage: Mapping[str, float] = field(factory=dict)
    seconds: float = 0.0
    time_limit: float | None = None

    @property
    def limited(self) -> bool:
        """Whether the clock stopped it, so that what it gave depends on the machine."""
        return self.time_limit is not None and self.seconds >= self.time_limit


@frozen
class Look:
    """One query of sealed labels: which look it was and by which predictor."""

    input: str
    target: str
    look: int
    predictor_digest: str
    replayed: bool
    run_ids: tuple[str, ...] = ()
    spent: bool = False


@frozen
class Ask:
    """What another process, or a person there, asked of a living run.

    ``what`` is ``pause`` or ``cancel``; ``now`` stops a running action too.
    """

    what: str
    now: bool
    seq: int


@frozen
class Revision:
    """A change of the acceptance criteria: from when on, what from, and the words given."""

    seq: int
    replaced: tuple[Criterion, ...]
    why: str = ""
    ended: bool = False


@frozen
class Approval:
    """A person's word on a verification plan, bound to the digest of the plan."""

    plan: str
    sha256: str
    name: str
    words: str

    def to_dict(self) -> dict[str, str]:
        """Return the approval as JSON values."""
        return asdict(self)


def to_plain(record: object) -> Any:  # Any: JSON values
    """Return an attrs record as plain JSON values."""
    return cattrs.unstructure(record)


def from_plain(kind: type[Record], value: Any) -> Record:  # Any: JSON values
    """Return the record that :func:`to_plain` wrote."""
    return cattrs.structure(value, kind)
