"""`harness replay`: the recorded actions run again, compared byte by byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sciharness.cli.common import RUN, as_json, dry_run, opened
from sciharness.cli.output import Teller, print_json, say

if TYPE_CHECKING:
    from sciharness.runtime.replay import ReplayedAction
    from sciharness.runtime.state import RunState
    from sciharness.store.home import Home

Facts = dict[str, Any]  # Any: JSON values


@click.command(epilog="Example: harness replay 3 --json")
@RUN
@dry_run
@as_json
@click.pass_context
def replay(ctx: click.Context, run: str, dry_run: bool, json_output: bool) -> int:
    """Run the recorded actions again, from recorded inputs and pins, and compare.

    Reports, environment records and benchmarks hold times: they are listed,
    not compared. No look at sealed labels is spent, nothing is recorded. Exit
    code 0 only if all else is equal, 1 if not.
    """
    from sciharness.runtime.control import Manner
    from sciharness.runtime.looking import state_of
    from sciharness.runtime.replay import replay_run
    from sciharness.runtime.signals import stop_on_interrupt

    with opened(ctx) as home, stop_on_interrupt(say) as stop:
        state = state_of(home, run)
        if dry_run:
            for record in state.settled:
                click.echo(f"[{record.index + 1}] {record.step}: {record.capability}")
            return 0
        actions = list(replay_run(home, state, Manner(tell=Teller(), stop=stop)))
        facts = _facts(home, state, actions)
    if json_output:
        print_json(facts)
    else:
        _show(facts)
    if stop.asked:
        say("stopped before the last action")
        return 130
    return 0 if facts["equal"] else 1


def _facts(home: Home, state: RunState, actions: list[ReplayedAction]) -> Facts:
    from attrs import asdict

    from sciharness.runtime.control import pinned_leases
    from sciharness.runtime.create import versions
    from sciharness.runtime.machine import machine_facts

    shown = [asdict(action) for action in actions]
    return {
        "run_id": state.run_id,
        "equal": all(action.verdict in {"equal", "not compared"} for action in actions),
        "actions": shown,
        "differences": [difference for action in shown for difference in _differences(action)],
        "seed": state.contract.seed,
        "versions": _side_by_side(state.versions, versions(pinned_leases(home, state))),
        "machine": _side_by_side(state.machine, machine_facts()),
    }


def _differences(action: Facts) -> list[Facts]:
    where = {name: action[name] for name in ("index", "step", "capability", "seed", "workers")}
    if action["verdict"] == "failed":
        return [{**where, "name": "", "type": "", "reason": action["reason"]}]
    return [
        {**where, **item, "reason": action["reason"]}
        for item in action["results"]
        if item["verdict"] == "different"
    ]


def _side_by_side(recorded: Facts, now: Facts) -> Facts:
    names = sorted(recorded.keys() | now.keys())
    return {name: {"recorded": recorded.get(name), "now": now.get(name)} for name in names}


def _show(facts: Facts) -> None:
    for action in facts["actions"]:
        tail = f": {action['reason']}" if action["reason"] else ""
        click.echo(f"{action['verdict']:<13} {action['step']} ({action['capability']}){tail}")
        for item in action["results"]:
            if item["verdict"] != "equal":
                click.echo(f"  {item['verdict']:<13} {item['name']} ({item['type']}){_pair(item)}")
    if facts["equal"]:
        click.echo("equal: every compared artifact and metric came out the same")
        return
    click.echo("NOT equal")
    for found in facts["differences"]:
        click.echo(f"  {found['step']}: seed {found['seed']}, {found['workers']} threads")
    for name, pair in {**facts["versions"], **facts["machine"]}.items():
        mark = "" if pair["recorded"] == pair["now"] else "  <- differs"
        click.echo(f"  {name}: {pair['recorded']} then, {pair['now']} now{mark}")


def _pair(item: Facts) -> str:
    if item["verdict"] != "different":
        return ""
    return f": {_short(item['recorded'])} then, {_short(item['replayed'])} now"


def _short(value: object) -> str:
    if value is None:
        return "nothing"
    return value[:12] if isinstance(value, str) else f"{value!r}"
