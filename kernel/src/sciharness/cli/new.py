"""`harness new`: a run that is not started yet, or the contract of an earlier one to fill in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sciharness.cli.common import as_json, dry_run, opened
from sciharness.cli.output import print_json, say

if TYPE_CHECKING:
    from sciharness.runtime.copying import Copied
    from sciharness.store.home import Home


@click.command(epilog="Example: harness new contract.yaml    or: harness new --from 3 next.yaml")
@click.argument("contract", type=click.Path(path_type=Path), required=False, metavar="CONTRACT")
@click.option(
    "--from",
    "source",
    metavar="RUN",
    help="Write goal, capabilities, rules and limits of this run to CONTRACT (contract.yaml).",
)
@dry_run
@as_json
@click.pass_context
def new(
    ctx: click.Context, contract: Path | None, source: str | None, dry_run: bool, json_output: bool
) -> int:
    """Create a run without starting it: check, pin, hash and seal the inputs.

    With --from nothing is created: a contract is written, to be filled in.
    """
    from sciharness.errors import UsageError

    with opened(ctx) as home:
        if source is not None:
            _copy(home, source, contract or Path("contract.yaml"), dry_run, json_output)
            return 0
        if contract is None:
            raise UsageError("name a contract, or a run with --from", where="new")
        if dry_run:
            from sciharness.cli.contract import print_check

            return print_check(home, contract, json_output)
        _create(home, contract, json_output)
    return 0


def _create(home: Home, contract: Path, json_output: bool) -> None:
    from sciharness.runtime.create import create_run
    from sciharness.runtime.looking import view_of

    run_id = create_run(home, contract, tell=say)
    view, _ = view_of(home, run_id)
    if json_output:
        print_json(view)
    else:
        click.echo(run_id)
        say(f"start it with `harness start {run_id}`")


def _copy(home: Home, source: str, out: Path, dry_run: bool, json_output: bool) -> None:
    from sciharness.runtime.copying import copied_contract
    from sciharness.runtime.looking import state_of

    state = state_of(home, source)
    copied = copied_contract(home, state)
    if not dry_run:
        _write(out, copied.text)
    for name, why in copied.dropped.items():
        say(f"not available, so left out: {name}: {why}")
    if json_output:
        print_json(_plain(state.run_id, copied, None if dry_run else out))
    else:
        click.echo(copied.text if dry_run else str(out), nl=not dry_run)
    if not dry_run:
        had = ", ".join(copied.inputs)
        say(f"name its inputs{f' (before: {had})' if had else ''}, then `harness check {out}`")


def _plain(run_id: str, copied: Copied, out: Path | None) -> dict[str, Any]:  # Any: JSON values
    return {
        "from": run_id,
        "contract": None if out is None else str(out.resolve()),
        "text": copied.text,
        "capabilities": list(copied.capabilities),
        "dropped": [{"capability": name, "reason": why} for name, why in copied.dropped.items()],
        "inputs_before": list(copied.inputs),
    }


def _write(out: Path, text: str) -> None:
    from sciharness.errors import UsageError

    try:
        with out.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as fault:
        hint = "Name another file after the run."
        raise UsageError("the file exists", where=str(out), hint=hint) from fault
    except OSError as fault:
        hint = "Choose another place."
        raise UsageError(
            f"cannot be written: {fault.strerror}", where=str(out), hint=hint
        ) from fault
