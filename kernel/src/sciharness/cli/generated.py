"""Commands about generated plugins: predict, solve, plugin install, remove and match."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from sciharness.cli.common import WORKERS, as_json, opened
from sciharness.cli.output import print_json, say

FORCE = click.option("--force", is_flag=True, help="Replace the file if it is there.")


@click.command(epilog="Example: harness predict example.pendulum new.csv -o predicted.csv")
@click.argument("predictor", metavar="ID|WHEEL|FOLDER")
@click.argument("table", type=click.Path(path_type=Path), metavar="INPUT")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, help="The CSV file to write."
)
@FORCE
@WORKERS
@as_json
@click.pass_context
def predict(
    ctx: click.Context,
    predictor: str,
    table: Path,
    out: Path,
    force: bool,
    workers: int,
    json_output: bool,
) -> None:
    """Predict every row of a table by a generated plugin.

    Columns are found by the names on the model card. ID may carry a version:
    example.pendulum==0.1.0.
    """
    from sciharness.generated.predicting import predict as predict_table

    with opened(ctx) as home:
        done = predict_table(home, predictor, table, out, threads=workers, replace=force)
    _tell({"predictor": predictor}, out, done.notes, json_output)


@click.command(epilog="Example: harness solve example.solver cases.csv -o solved.csv")
@click.argument("solver", metavar="ID|WHEEL")
@click.argument("given", type=click.Path(path_type=Path), metavar="INPUT")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, help="The file to write."
)
@FORCE
@WORKERS
@as_json
@click.pass_context
def solve(
    ctx: click.Context,
    solver: str,
    given: Path,
    out: Path,
    force: bool,
    workers: int,
    json_output: bool,
) -> None:
    """Solve a file by a solver that was published behind an adapter.

    The solver runs in a workspace of its own, confined as this machine can; it
    is a native program that nobody has reviewed. A table has one case per row.
    """
    from sciharness.generated.adapters import solve as solve_file

    with opened(ctx) as home:
        done = solve_file(home, solver, given, out, threads=workers, replace=force)
    _tell({"solver": solver}, out, done.notes, json_output)


def _tell(used: Mapping[str, str], out: Path, notes: Sequence[str], json_output: bool) -> None:
    for note in notes:
        say(note)
    if json_output:
        print_json({**used, "output": str(out.resolve()), "notes": list(notes)})
    else:
        click.echo(str(out))


@click.command(epilog="Example: harness plugin install export/artifacts/predictor_plugin/x.whl")
@click.argument("wheel", type=click.Path(path_type=Path))
@click.option("--attestation", type=click.Path(path_type=Path), help="Default: beside the wheel.")
@click.option("--lift-revocation", is_flag=True, help="Admit an ID again that was revoked.")
@click.option("-n", "--dry-run", is_flag=True, help="Make all checks; install nothing.")
@as_json
@click.pass_context
def install(
    ctx: click.Context,
    wheel: Path,
    attestation: Path | None,
    lift_revocation: bool,
    dry_run: bool,
    json_output: bool,
) -> None:
    """Install a generated wheel below the home, never into this Python.

    Package and attestation are compared item by item; one prediction is made.
    """
    from sciharness.generated.installing import install as install_wheel

    with opened(ctx) as home:
        done = install_wheel(
            home, wheel, attestation, dry_run=dry_run, lift_revocation=lift_revocation
        )
    if json_output:
        print_json(done.to_dict())
        return
    verb = "would install" if dry_run else "already installed" if done.already else "installed"
    click.echo(f"{verb}: {done.plugin_id} {done.version} {done.digest}")
    performed = str(done.review["independent_binary_review_performed"]).lower()
    policy = done.review["policy"]
    say(f"independent_binary_review_performed: {performed} ({policy}); digests are no verdict")
    for statement in done.statements:
        say(statement)


@click.command(epilog="Example: harness plugin remove example.pendulum --yes")
@click.argument("plugin_id", metavar="ID")
@click.option("--version", help="Only this version.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("-n", "--dry-run", is_flag=True, help="Show what would be removed.")
@click.pass_context
def remove(
    ctx: click.Context, plugin_id: str, version: str | None, yes: bool, dry_run: bool
) -> None:
    """Remove a generated plugin; results that used it stay readable."""
    from sciharness.errors import UsageError
    from sciharness.generated.installed import installed_versions
    from sciharness.generated.installing import remove as remove_plugin

    with opened(ctx) as home:
        places = installed_versions(home).get(plugin_id, [])
        named = [place.name for place in places if version in (None, place.name)]
        if named and not dry_run and not yes:
            if not os.isatty(0):
                raise UsageError(
                    f"would remove {plugin_id} {', '.join(named)}", hint="Say so with --yes."
                )
            click.confirm(f"Remove {plugin_id} {', '.join(named)}?", abort=True)
        if not dry_run or not named:
            named = remove_plugin(home, plugin_id, version)
    say(f"{'would remove' if dry_run else 'removed'}: {plugin_id} {', '.join(named)}")


@click.command(epilog="Example: harness plugin match new.csv")
@click.argument("table", type=click.Path(path_type=Path), metavar="FILE")
@as_json
@click.pass_context
def match(ctx: click.Context, table: Path, json_output: bool) -> int:
    """Name the generated plugins that fit a table.

    They fit by column names and types. Exit code 4 if several do: which one
    is meant is yours to say.
    """
    from sciharness.generated.listing import matches

    with opened(ctx) as home:
        found = matches(home, table)
    if json_output:
        print_json({"matches": [one.to_dict() for one in found]})
    for one in [] if json_output else found:
        click.echo(f"{one.plugin_id} {one.version} predicts {one.target}")
    if len(found) > 1:
        say("several fit; name one: harness predict ID INPUT -o OUTPUT")
    elif not found:
        say("none fits")
    return 4 if len(found) > 1 else 0
