"""Commands about contracts: init, check, schema, lock."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sciharness.cli.common import as_json, opened
from sciharness.cli.output import print_json, say

if TYPE_CHECKING:
    from sciharness.store.home import Home

CONTRACT = click.argument("contract", type=click.Path(path_type=Path), metavar="CONTRACT")


@click.command(epilog="Example: harness init contract.yaml --pipeline")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "--pipeline",
    is_flag=True,
    help="Lease all installed analysis, knowledge, verification and report capabilities.",
)
@as_json
@click.pass_context
def init(ctx: click.Context, file: Path, pipeline: bool, json_output: bool) -> None:
    """Write a commented contract; an existing file is left alone. No permission is set."""
    from sciharness.contract.template import template
    from sciharness.errors import UsageError
    from sciharness.plugins import Plugins

    operations = []
    if pipeline:
        with opened(ctx) as home:
            operations = [one for entry in Plugins(home).listing() for one in entry.operations]
    text = template(pipeline=pipeline, operations=operations)
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as fault:
        raise UsageError("the file exists", where=str(file), hint="Choose another name.") from fault
    except OSError as fault:
        raise UsageError(
            f"cannot be written: {fault.strerror}", where=str(file), hint="Choose another place."
        ) from fault
    if json_output:
        print_json({"contract": str(file.resolve())})
    else:
        click.echo(str(file))
    say(f"fill it in, then run `harness check {file}`")


@click.command(epilog="Example: harness check contract.yaml --json")
@CONTRACT
@as_json
@click.pass_context
def check(ctx: click.Context, contract: Path, json_output: bool) -> int:
    """Check a contract and its inputs; every problem at once, exit code 3 or 7."""
    with opened(ctx) as home:
        return print_check(home, contract, json_output)


def print_check(home: Home, contract: Path, json_output: bool) -> int:
    """Print the review of a contract and return the exit code it stands for."""
    from sciharness.errors import HarnessError
    from sciharness.runtime.review import review_contract

    review = review_contract(home, contract)
    try:
        review.check()
        code = 0
    except HarnessError as fault:
        code = fault.exit_code
    found = review.to_dict()
    if json_output:
        print_json(found)
        return code
    for warning in review.warnings:
        say(f"warning: {warning}")
    for problem in review.problems:
        say(f"{problem}")
    for item in found["inputs"]:
        click.echo(f"input: {item['name']} {item['type']} {item['bytes']} bytes {item['sha256']}")
    for step in found["steps"]:
        click.echo(f"step: {step['id']} {step['use']} ({step['kind'].replace('_', ' ')})")
    for pin in found["pins"]:
        click.echo(f"pin: {pin}")
    count = len(review.problems)
    click.echo("ok" if count == 0 else f"{count} problem{'s' if count > 1 else ''}")
    return code


@click.command(epilog="Example: harness schema > research-contract.schema.json")
def schema() -> None:
    """Print the JSON Schema of contracts, for editors."""
    from sciharness.contract.schema import contract_json_schema

    print_json(contract_json_schema())


@click.command(epilog="Example: harness lock contract.yaml --update")
@CONTRACT
@click.option("--update", is_flag=True, help="Replace a lock that says something else.")
@click.option("-n", "--dry-run", is_flag=True, help="Only compare; write nothing.")
@as_json
@click.pass_context
def lock(
    ctx: click.Context, contract: Path, update: bool, dry_run: bool, json_output: bool
) -> None:
    """Pin the leased capabilities, the contract and its inputs in contract.lock."""
    from sciharness.contract.lock import check_lock, lock_path, update_lock, write_lock
    from sciharness.runtime.review import review_contract

    with opened(ctx) as home:
        review = review_contract(home, contract)
    review.check()
    path, found = lock_path(contract), review.lock()
    was_there = path.exists()
    if dry_run:
        check_lock(path, found, str(contract))
        say("nothing differs" if was_there else "there is no lock yet")
    elif update:
        update_lock(path, found)
    else:
        write_lock(path, found, str(contract))
    if json_output:
        written = not dry_run and (update or not was_there)
        print_json({"lock": os.fspath(path.resolve()), "written": written, **found.to_dict()})
    elif not dry_run:
        click.echo(os.fspath(path))
