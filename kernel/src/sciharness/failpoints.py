"""Fail points: named steps at which a test kills the process, as a power cut would.

``HARNESS_FAILPOINT=NAME`` ends the process by SIGKILL when it gets to that
step; ``NAME@3`` only where the step's number (of an action, say) is 3. Unset,
a step costs one look into the environment.
"""

from __future__ import annotations

import os
import signal

VARIABLE = "HARNESS_FAILPOINT"

# In the order in which a run with a final evaluation and a report gets to them.
NAMES = (
    "run.staged",
    "run.created",
    "run.claimed",
    "action.begun",
    "action.worked",
    "object.written",
    "object.linked",
    "action.ingested",
    "commit.ready",
    "commit.done",
    "action.settled",
    "predictor.frozen",
    "look.spent",
    "predictor.ran",
    "look.judged",
    "report.due",
    "run.ending",
    "run.ended",
    "run.published",
    "run.exported",
    "run.delivered",
    "run.released",
    # In the order in which the installation of a generated plugin gets to them.
    "install.staged",
    "install.admitted",
    "install.placed",
)


def reach(name: str, number: int | None = None) -> None:
    """Say that the step ``name`` is reached; end the process there if that was asked for."""
    wanted = os.environ.get(VARIABLE)
    if wanted is not None and wanted in {name, f"{name}@{number}"}:
        os.kill(os.getpid(), signal.SIGKILL)
