"""The built-in reasoner `recipe`: the planned steps, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from sciharness.contract.steps import PlannedStep
from sciharness.roles import Finish
from sciharness.runtime.state import RunState


def next_step(steps: Sequence[PlannedStep], state: RunState) -> PlannedStep | Finish:
    """Return the first planned step that is neither settled nor out of reach.

    A step whose producer failed or was refused is out of reach: it is passed
    over, and the run ends without it.
    """
    lost: set[str] = set()
    newest = {record.step: record for record in (*state.settled, *state.refusals)}
    for step in steps:
        record = newest.get(step.id)
        if record is None:
            if any(binding.name in lost for binding in step.step_bindings()):
                lost.add(step.id)
                continue
            return step
        if record.status != "finished":
            lost.add(step.id)
    return Finish("out of reach: " + ", ".join(sorted(lost)) if lost else "all steps are done")
