"""Commands that steer runs from outside: pause, cancel, gc."""

from __future__ import annotations

import click

from sciharness.cli.common import RUN, as_json, dry_run, opened
from sciharness.cli.output import print_json, say

# The time that a run takes to stop an action with all its processes, and some.
_SECONDS = 30.0
_LET_GO = frozenset({"paused", "interrupted", "created"})


@click.command(epilog="Example: harness pause 3 --now")
@RUN
@click.option("--now", is_flag=True, help="Stop the running action; it runs again on resume.")
@click.option("--wait", is_flag=True, help="Return only when the run is paused.")
@dry_run
@as_json
@click.pass_context
def pause(
    ctx: click.Context, run: str, now: bool, wait: bool, dry_run: bool, json_output: bool
) -> None:
    """Pause a run after the action it is at; `harness resume` goes on."""
    from sciharness.runtime.asks import ask_to_pause, wait_for_answer
    from sciharness.runtime.looking import view_of
    from sciharness.store.runs import Runs

    with opened(ctx) as home:
        run_id = Runs(home).find(run).run_id
        if dry_run:
            say(f"would pause {run_id}, which is {Runs(home).get(run_id).status}")
            return
        status = ask_to_pause(home, run_id, now=now)
        if status == "running" and (now or wait):
            status = wait_for_answer(home, run_id, None if wait else _SECONDS)
        if json_output:
            print_json(view_of(home, run_id)[0])
    if status == "running":
        say(f"{run_id} will pause after the action that is running")
    else:
        say(f"{run_id} is {status}" + ("; `harness resume` goes on" if status == "paused" else ""))


@click.command(epilog="Example: harness cancel 3")
@RUN
@dry_run
@as_json
@click.pass_context
def cancel(ctx: click.Context, run: str, dry_run: bool, json_output: bool) -> None:
    """End a run now, whatever it is at; what it has done is kept and exported."""
    from sciharness.runtime.asks import ask_to_cancel, wait_for_answer
    from sciharness.runtime.looking import view_of
    from sciharness.store.runs import Runs

    with opened(ctx) as home:
        run_id = Runs(home).find(run).run_id
        if dry_run:
            say(f"would cancel {run_id}, which is {Runs(home).get(run_id).status}")
            return
        status = ask_to_cancel(home, run_id)
        if status == "running":
            status = wait_for_answer(home, run_id, _SECONDS)
        if status in _LET_GO:  # it had just stopped by itself
            status = ask_to_cancel(home, run_id)
        if json_output:
            print_json(view_of(home, run_id)[0])
    say(f"{run_id} is {status}")


@click.command(epilog='Example: harness approve 3 plan --name "Ada" --words "Read and agreed."')
@RUN
@click.argument("plan", metavar="PLAN")
@click.option("--name", required=True, help="The person who approves.")
@click.option("--words", required=True, help="What the person says to it; recorded.")
@dry_run
@as_json
@click.pass_context
def approve(
    ctx: click.Context,
    run: str,
    plan: str,
    name: str,
    words: str,
    dry_run: bool,
    json_output: bool,
) -> None:
    """Approve a verification plan, named by its step or artifact ID.

    The approval is bound to the plan's digest: an edited plan needs a new one.
    """
    from sciharness.runtime.approval import approve as record_approval

    with opened(ctx) as home:
        approval = record_approval(home, run, plan, name=name, words=words, dry_run=dry_run)
    if json_output:
        print_json({"approval": approval.to_dict(), "recorded": not dry_run})
    else:
        verb = "would approve" if dry_run else "approved"
        say(f"{verb}: plan {approval.plan[:12]} with digest {approval.sha256[:12]}")


@click.command(epilog="Example: harness gc -n")
@dry_run
@as_json
@click.pass_context
def gc(ctx: click.Context, dry_run: bool, json_output: bool) -> None:
    """Remove what no run needs: stray objects, seals, workspaces, exports, leftovers.

    What is younger than a day is left alone, since a run that is at work may
    be about to name it.
    """
    from sciharness.store.collection import collect

    with opened(ctx) as home:
        found = collect(home, dry_run=dry_run)
    if json_output:
        print_json(found.to_dict())
        return
    counts = {name: value for name, value in found.to_dict().items() if isinstance(value, tuple)}
    for kind, names in counts.items():
        for name in names:
            click.echo(f"{kind}: {name}")
    total = sum(len(names) for names in counts.values())
    say(f"{'would remove' if dry_run else 'removed'} {total} entries, {found.bytes} bytes")
