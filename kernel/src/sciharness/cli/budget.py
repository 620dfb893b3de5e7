"""`harness budget`: what a run has used, and more of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from sciharness.cli.common import RUN, WORKERS, as_json, dry_run, opened
from sciharness.cli.output import print_json, say
from sciharness.cli.run import carry

if TYPE_CHECKING:
    from sciharness.runtime.state import RunState
    from sciharness.runtime.topup import Limits


@click.command(epilog="Example: harness budget 3 --add actions=5 --set wall_time=20m")
@RUN
@click.option("--add", "added", multiple=True, metavar="KEY=AMOUNT", help="Raise a limit by this.")
@click.option("--set", "put", multiple=True, metavar="KEY=AMOUNT", help="Raise a limit to this.")
@WORKERS
@dry_run
@as_json
@click.pass_context
def budget(
    ctx: click.Context,
    run: str,
    added: tuple[str, ...],
    put: tuple[str, ...],
    workers: int,
    dry_run: bool,
    json_output: bool,
) -> int:
    """Show the budget of a run, or raise limits.

    A run that a limit has ended goes on at once: raising and going on are one
    step, and what was done is neither repeated nor paid again. Any other run
    keeps its status. Equal or lower limits are refused.
    """
    from sciharness.runtime import topup
    from sciharness.runtime.looking import state_of
    from sciharness.store.runs import Runs

    more, whole = _amounts(added, "--add"), _amounts(put, "--set")
    with opened(ctx) as home:
        run_id = Runs(home).find(run).run_id
        if not more and not whole:
            _show(state_of(home, run_id), json_output)
            return 0
        status = topup.check_open(home, run_id)
        if dry_run:
            state = state_of(home, run_id)
            _show_changes(state, topup.new_limits(state, more, whole), json_output)
            return 0
        if status == "budget_exhausted":
            return carry(
                home,
                run_id,
                workers=workers,
                spend_holdout=False,
                json_output=json_output,
                command=f"`harness budget {run_id} --add KEY=AMOUNT`",
                allowed=frozenset({"budget_exhausted"}),
                first=lambda state: [
                    topup.raised_event(state, topup.new_limits(state, more, whole))
                ],
            )
        state = topup.raise_budget(home, run_id, more, whole)
        _show(state, json_output)
    if status in {"paused", "interrupted"}:
        say(f"raised; the run is {status}, `harness resume {run_id}` goes on")
    return 0


def _amounts(texts: Sequence[str], option: str) -> dict[str, float | None]:
    from sciharness.errors import UsageError
    from sciharness.runtime.topup import read_amount

    amounts: dict[str, float | None] = {}
    for text in texts:
        key, equals, amount = text.partition("=")
        if not equals or key in amounts:
            raise UsageError(
                f"found `{text}`", where=option, hint="Write KEY=AMOUNT, each key once."
            )
        amounts[key] = read_amount(key, amount, place=option)
    return amounts


def _show(state: RunState, json_output: bool) -> None:
    from sciharness.runtime.budget import show_amount

    if json_output:
        print_json(_plain(state))
        return
    for key, item in state.budget.to_dict().items():
        if item["limit"] is None and not item["used"]:
            continue
        limit = f" of {show_amount(key, item['limit'])}" if item["limit"] is not None else ""
        reserved = state.budget.reserved.get(key)
        held = f", {show_amount(key, reserved)} reserved" if reserved else ""
        click.echo(f"{key:<17} {show_amount(key, item['used'])}{limit}{held}")


def _plain(state: RunState) -> dict[str, Any]:  # Any: JSON values
    entries = {
        key: {**item, "reserved": state.budget.reserved.get(key, 0)}
        for key, item in state.budget.to_dict().items()
    }
    return {"run_id": state.run_id, "status": state.status, "budget": entries}


def _show_changes(state: RunState, limits: Limits, json_output: bool) -> None:
    from sciharness.runtime.budget import show_amount
    from sciharness.runtime.topup import raised_event

    changes = raised_event(state, limits)[1]["changes"]
    goes_on = state.status == "budget_exhausted"
    if json_output:
        print_json({"run_id": state.run_id, "changes": changes, "goes_on": goes_on})
        return
    for key, change in changes.items():
        click.echo(f"{key}: {show_amount(key, change['from'])} -> {show_amount(key, change['to'])}")
    click.echo("the run would go on" if goes_on else f"the run would stay {state.status}")
