"""`harness criteria`: what a run is judged by, and other criteria in their place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sciharness.cli.common import RUN, as_json, dry_run, opened
from sciharness.cli.output import print_json, say

if TYPE_CHECKING:
    from sciharness.contract.records import Criterion
    from sciharness.runtime.state import RunState


@click.command(epilog="Example: harness criteria 3 --set 'relative_rmse<=0.01'")
@RUN
@click.option("--edit", type=click.Path(path_type=Path), help="File with the whole new list.")
@click.option("--set", "put", multiple=True, metavar="CRITERION", help="Add or replace one.")
@click.option("--remove", multiple=True, metavar="METRIC", help="Take one away.")
@click.option("--why", default="", metavar="TEXT", help="Words to keep with the revision.")
@dry_run
@as_json
@click.pass_context
def criteria(
    ctx: click.Context,
    run: str,
    edit: Path | None,
    put: tuple[str, ...],
    remove: tuple[str, ...],
    why: str,
    dry_run: bool,
    json_output: bool,
) -> None:
    """Show the criteria of a run, or revise them and judge the evidence anew.

    The run must not be at work: pause it first. A run that has ended keeps its
    status and shows under which conditions it was completed.
    """
    from sciharness.runtime.looking import state_of
    from sciharness.runtime.revise import check_revision, revise_criteria

    with opened(ctx) as home:
        state = state_of(home, run)
        if edit is not None or put or remove:
            wanted = _wanted(state, edit, put, remove)
            if dry_run:
                check_revision(home, state, wanted)
                state = _judged_by(state, wanted)
            else:
                state = revise_criteria(home, state.run_id, wanted, why)
    view = _view(state)
    if json_output:
        print_json(view)
        return
    _show(view)
    if dry_run:
        say("nothing was changed")


def _wanted(
    state: RunState, edit: Path | None, put: tuple[str, ...], remove: tuple[str, ...]
) -> tuple[Criterion, ...]:
    from sciharness.contract.criteria import read_criteria, read_criterion
    from sciharness.contract.document import load_document
    from sciharness.errors import UsageError

    listed = state.criteria if edit is None else read_criteria(load_document(edit))
    chosen = {item.metric: item for item in listed}
    for name in remove:
        if chosen.pop(name, None) is None:
            raise UsageError(
                f"no criterion is on {name}",
                where="--remove",
                hint=f"There are: {', '.join(chosen)}.",
            )
    for text in put:
        criterion = read_criterion(text, state.criteria, place="--set")
        chosen[criterion.metric] = criterion
    if not chosen:
        raise UsageError("at least one criterion has to stay", where=state.run_id)
    return tuple(chosen.values())


def _judged_by(state: RunState, wanted: tuple[Criterion, ...]) -> RunState:
    from attrs import evolve

    from sciharness.runtime.criteria import judge

    return evolve(state, criteria=wanted, verdicts=judge(wanted, state.metrics, state.undefined))


def _view(state: RunState) -> dict[str, Any]:  # Any: JSON values
    from sciharness.runtime.view import run_view

    view = run_view(state)
    names = ("run_id", "status", "criteria")
    return {
        **{name: view[name] for name in names},
        "conditions": view.get("conditions", ""),
        "revisions": view.get("criteria_revisions", []),
    }


def _show(view: dict[str, Any]) -> None:  # Any: JSON values
    from sciharness.cli.summary import criterion_line

    click.echo(f"status: {view['status']}")
    if view["conditions"]:
        click.echo(view["conditions"])
    for item in view["criteria"]:
        click.echo(criterion_line(item))
    for item in view["revisions"]:
        before = ", ".join(
            f"{one['metric']} {one['op']} {one['value']:g}" for one in item["replaced"]
        )
        words = f": {item['why']}" if item["why"] else ""
        click.echo(f"revised by event {item['seq']}, before: {before}{words}")
