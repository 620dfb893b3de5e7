"""Commands that carry runs on: run, new, start, resume."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sciharness.cli.common import RUN, WORKERS, as_json, opened
from sciharness.cli.output import Teller, print_json, say, say_error

if TYPE_CHECKING:
    from sciharness.runtime.session import NewEvent
    from sciharness.runtime.state import RunState
    from sciharness.store.home import Home

CONTRACT = click.argument("contract", type=click.Path(path_type=Path), metavar="CONTRACT")
SPEND = click.option(
    "--spend-holdout",
    is_flag=True,
    help="Allow one look at the final labels beyond max_queries; recorded and reported.",
)


@click.command(epilog="Example: harness run contract.yaml --json")
@CONTRACT
@WORKERS
@SPEND
@click.option("--fresh", is_flag=True, help="Start anew even if an unfinished run exists.")
@click.option("-n", "--dry-run", is_flag=True, help="Show plan, pins and inputs; run nothing.")
@click.option("--export", "export_to", type=click.Path(path_type=Path), help="Also export there.")
@as_json
@click.pass_context
def run(
    ctx: click.Context,
    contract: Path,
    workers: int,
    spend_holdout: bool,
    fresh: bool,
    dry_run: bool,
    export_to: Path | None,
    json_output: bool,
) -> int:
    """Run a contract; an unfinished run of the same contract is continued."""
    from sciharness.runtime.create import create_run, unfinished_run

    with opened(ctx) as home:
        if dry_run:
            from sciharness.cli.contract import print_check

            return print_check(home, contract, json_output)
        run_id = None if fresh else unfinished_run(home, contract, tell=say)
        if run_id is not None:
            say(f"continuing the unfinished run {run_id} (start anew with --fresh)")
        else:
            run_id = create_run(home, contract, tell=say)
        return carry(
            home,
            run_id,
            workers=workers,
            spend_holdout=spend_holdout,
            json_output=json_output,
            export_to=export_to,
            hidden=(contract.resolve().parent,),
            command=f"`harness run {contract}`",
        )


@click.command(epilog="Example: harness start 3")
@RUN
@WORKERS
@SPEND
@as_json
@click.pass_context
def start(
    ctx: click.Context, run: str, workers: int, spend_holdout: bool, json_output: bool
) -> int:
    """Start a run that `new` has made."""
    return _go_on(ctx, run, workers, spend_holdout, json_output, frozenset({"created"}))


@click.command(epilog="Example: harness resume 3")
@RUN
@WORKERS
@SPEND
@as_json
@click.pass_context
def resume(
    ctx: click.Context, run: str, workers: int, spend_holdout: bool, json_output: bool
) -> int:
    """Continue a paused or interrupted run from its last complete step."""
    return _go_on(ctx, run, workers, spend_holdout, json_output)


def _go_on(
    ctx: click.Context,
    run: str,
    workers: int,
    spend_holdout: bool,
    json_output: bool,
    allowed: frozenset[str] | None = None,
) -> int:
    from sciharness.store.runs import Runs

    with opened(ctx) as home:
        run_id = Runs(home).find(run).run_id
        return carry(
            home,
            run_id,
            workers=workers,
            spend_holdout=spend_holdout,
            json_output=json_output,
            command=f"`harness resume {run_id}`",
            allowed=allowed,
        )


def carry(
    home: Home,
    run_id: str,
    *,
    workers: int,
    spend_holdout: bool,
    json_output: bool,
    command: str,
    hidden: tuple[Path, ...] = (),
    export_to: Path | None = None,
    allowed: frozenset[str] | None = None,
    first: Callable[[RunState], Sequence[NewEvent]] = lambda state: (),
) -> int:
    """Carry a run to its end or next stop, print it, and return the exit code.

    ``allowed`` and ``first`` are as for :func:`sciharness.runtime.control.carry_run`.
    """
    from sciharness.cli.summary import advice, describe, exit_code, formulas_of
    from sciharness.runtime.control import UNFINISHED, Manner, carry_run
    from sciharness.runtime.looking import view_of
    from sciharness.runtime.signals import stop_on_interrupt
    from sciharness.store.artifacts import ArtifactStore

    with stop_on_interrupt(say) as stop:
        manner = Manner(workers, spend_holdout, Teller(), stop, hidden)
        statuses = UNFINISHED if allowed is None else allowed
        carry_run(home, run_id, manner, allowed=statuses, first=first, export_to=export_to)
    view, state = view_of(home, run_id)
    code = exit_code(view)
    if json_output:
        print_json(view)
    else:
        click.echo(describe(view, formulas_of(state, ArtifactStore(home))))
    if code == 1 and view["status"] == "failed":
        for line in advice(state, view, command):
            say(line)
    elif view["status"] == "interrupted":
        say(f"interrupted; continue with `harness resume {run_id}`")
    if view.get("error"):
        from sciharness.errors import HarnessError

        error = view["error"]
        say_error(HarnessError(error["message"], where=error["where"], hint=error["hint"]))
    return code
