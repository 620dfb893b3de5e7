"""What plugin authors write with: capability records, the operation context, outcomes.

The smallest plugin is one module: an attrs request class, a function
``(request, context) -> Outcome``, and a hook that returns a
:class:`Capability`. Heavy libraries are imported inside the function.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from sciharness.contract.artifact_types import PREDICTOR_FILES

if TYPE_CHECKING:
    from sciharness.roles import Launch

GROUPS = (
    "analysis",
    "domain experiments",
    "execution and training",
    "evaluation",
    "knowledge and verification",
    "report and visualisation",
)

# Switches of a contract's permissions, which only a person sets.
PERMISSIONS = ("reuse_generated_code", "publish_plugins", "symbolic_baseline")


@frozen
class InputSpec:
    """An input that an operation takes, under the name it has in ``context.inputs``.

    ``types`` are artifact types or contract roles that fit; empty fits anything.
    The name ``*`` stands for any further inputs, each under a name of the
    contract's own choice.
    """

    name: str
    types: tuple[str, ...] = ()
    optional: bool = False
    summary: str = ""


@frozen
class OutputSpec:
    """An artifact that an operation writes: file name and artifact type."""

    name: str
    type: str
    optional: bool = False


# A predictor of file-predictor-v1, as the publisher's `write_predictor` writes it.
PREDICTOR_OUTPUTS = (
    *(OutputSpec(name, kind) for name, kind in PREDICTOR_FILES.items()),
    OutputSpec("minimal_example.py", "MINIMAL_EXAMPLE"),
    OutputSpec("usage_guide.md", "USAGE_GUIDE"),
)


@frozen
class Table:
    """How the columns of a table are to be read; ``None`` where the input is no table.

    ``dialect`` holds delimiter, decimal mark, encoding and header lines as the
    table reader found them. ``units`` maps column names to unit texts.
    """

    target: str | None = None
    features: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    weights: str | None = None
    sigma: str | None = None
    units: Mapping[str, str] = field(factory=dict)
    group: str | None = None
    task: str = "regression"
    classes: tuple[str, ...] = ()
    sample_id: str | None = None
    missing: str = "refuse"
    dialect: Mapping[str, Any] = field(factory=dict)  # Any: JSON values of the reader


@frozen
class Input:
    """One input of an operation: a read-only file or folder and how to read it.

    ``meta`` carries facts that the kernel adds for some operations, for
    example the training mean for an evaluator or the run record for a report.
    """

    name: str
    path: Path
    type: str
    role: str = "other"
    table: Table | None = None
    meta: Mapping[str, Any] = field(factory=dict)  # Any: JSON values


def _texts(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(values)


@frozen
class Outcome:
    """What an operation gives back: finite float metrics and short notes for the reader.

    Artifacts are the files that were asked for by ``context.output``; every
    one of them has to exist when the operation returns.
    """

    metrics: Mapping[str, float] = field(factory=dict)
    notes: tuple[str, ...] = field(default=(), converter=_texts)


@frozen
class Capability:
    """A named operation of a plugin.

    ``request`` is an attrs class: its fields, types, defaults and validators
    are the parameter schema. ``metrics`` lists every metric the operation may
    report, ``*`` any; an undeclared one fails the action. ``domain`` empty means a core
    capability. ``network`` keeps sockets open for the worker, which then never
    sees labels. ``programs`` lets it execute files of its workspace, see
    :mod:`sciharness.programs`. ``final_data`` declares that it makes the final data set of
    ``holdout.generated_by``. ``charges`` names the budget keys that it may
    charge, so that an action is not started when one of them is used up.
    ``permission`` names the switch of the contract's permissions without which
    it is not leased.
    """

    operation: str
    run: Callable[[Any, Context], Outcome]  # Any: an instance of ``request``
    request: type
    summary: str
    group: str
    inputs: tuple[InputSpec, ...] = ()
    outputs: tuple[OutputSpec, ...] = ()
    metrics: tuple[str, ...] = ()
    domain: str = ""
    network: bool = False
    programs: bool = False
    final_data: bool = False
    charges: tuple[str, ...] = ()
    permission: str = ""


@frozen
class Evaluator:
    """An operation that judges predictions against labels.

    The kernel runs the predictor; the evaluator gets the inputs
    ``predictions`` (CSV as in file-predictor-v1) and ``labels``
    (``sample_id,TARGET``), with task, classes, training mean and
    ``last_query`` in ``labels.meta``. ``trusted_metrics`` are those that may
    count as trusted if this installation grants it.
    """

    operation: str
    run: Callable[[Any, Context], Outcome]  # Any: an instance of ``request``
    request: type
    summary: str
    task: str
    metrics: tuple[str, ...]
    trusted_metrics: tuple[str, ...] = ()
    outputs: tuple[OutputSpec, ...] = ()


class Context:
    """What an operation may use while it runs.

    ``inputs`` maps names to :class:`Input`. ``seed`` (int) and ``workers``
    (int >= 1) are set by the run; ``time_limit`` is seconds or ``None``.
    ``restored`` is the folder of an earlier attempt's checkpoint, or ``None``.
    ``launch`` is how the run's executor wants programs started, or ``None``;
    :func:`sciharness.programs.run_program` heeds it.
    """

    def __init__(
        self,
        *,
        inputs: Mapping[str, Input],
        workspace: Path,
        seed: int = 0,
        workers: int = 1,
        time_limit: float | None = None,
        restored: Path | None = None,
        launch: Launch | None = None,
        emit: Callable[[dict[str, Any]], None] = lambda message: None,  # Any: JSON values
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self.inputs = inputs
        self.workspace = workspace
        self.seed = seed
        self.workers = workers
        self.time_limit = time_limit
        self.restored = restored
        self.launch = launch
        self.log = logging.getLogger("sciharness.operation")
        self._emit = emit
        self._is_cancelled = is_cancelled
        self._outputs: dict[str, str] = {}

    @property
    def outputs(self) -> Mapping[str, str]:
        """Names and types of the artifacts asked for so far."""
        return dict(self._outputs)

    def output(self, name: str, type: str) -> Path:
        """Return the path to write the artifact ``name`` of ``type`` to."""
        if not name or name in {".", ".."} or any(mark in name for mark in "/\\\0"):
            raise ValueError(f"an artifact name is a plain file name, got {name!r}")
        folder = self.workspace / "outputs"
        folder.mkdir(parents=True, exist_ok=True)
        self._outputs[name] = type
        return folder / name

    def progress(self, fraction: float, message: str = "", **best: float | str) -> None:
        """Tell the person how far the work is (0..1) and the best found so far."""
        self._emit({"progress": {"fraction": float(fraction), "message": message, "best": best}})

    def charge(self, **usage: float) -> None:
        """Report usage in budget keys, for example ``solver_calls=3``; amounts add up."""
        self._emit({"charge": usage})

    def checkpoint(self) -> Path:
        """Return a folder that survives a kill and comes back as ``restored``."""
        folder = self.workspace / "checkpoint"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def cancelled(self) -> bool:
        """Whether the run asks this operation to stop at its next safe point."""
        return self._is_cancelled()
