"""Commands for plugin authors: a new project, and the conformance kit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sciharness.cli.common import as_json, opened
from sciharness.cli.output import print_json, say

if TYPE_CHECKING:
    from sciharness.testkit.verdicts import Verdict


@click.command("new", epilog="Example: harness plugin new acme.rows")
@click.argument("plugin_id", metavar="NAME")
@click.option("--out", type=click.Path(path_type=Path), help="Folder; default: after its name.")
@click.option("-n", "--dry-run", is_flag=True, help="List the files; write none.")
def new_plugin(plugin_id: str, out: Path | None, dry_run: bool) -> None:
    """Write a complete plugin project to start from.

    NAME is the plugin ID: lower-case words joined by underscores, with dots
    after an owner.
    """
    from sciharness.scaffold import default_folder, project_files, write_project

    folder = out or default_folder(plugin_id)
    paths = tuple(project_files(plugin_id)) if dry_run else write_project(plugin_id, folder)
    for path in paths:
        click.echo(str(folder / path))
    if not dry_run:
        say(f"next: pip install ./{folder.name} && harness plugin admit {plugin_id}")


@click.command("check", epilog="Example: harness plugin check ./acme-rows")
@click.argument("subject", metavar="PATH|ID")
@click.option(
    "--examples",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Parameters and inputs to try; default: conformance.yaml of the project.",
)
@as_json
@click.pass_context
def check_plugin(ctx: click.Context, subject: str, examples: Path | None, json_output: bool) -> int:
    """Run the conformance kit on a project, wheel or plugin.

    Every operation is run in real workers; exit code 1 if anything fails. A
    project is built by its own backend first, as pip does.
    """
    verdicts = []
    for verdict in _verdicts(ctx, subject, examples):
        verdicts.append(verdict)
        if not json_output:
            click.echo(str(verdict))
    failures = [verdict for verdict in verdicts if not verdict.ok]
    if json_output:
        print_json({"ok": not failures, "verdicts": [one.to_dict() for one in verdicts]})
    else:
        say(f"{len(verdicts)} checks, {len(failures)} failed")
    return 1 if failures else 0


def _verdicts(ctx: click.Context, subject: str, examples: Path | None) -> Iterator[Verdict]:
    from sciharness.errors import UsageError
    from sciharness.testkit.conformance import check, check_installed

    path = Path(subject)
    if path.exists():
        return check(path, examples=examples)
    if "/" in subject or "\\" in subject:
        hint = "Give a project folder, a wheel, or the ID of an admitted plugin."
        raise UsageError("there is no such folder or wheel", where=subject, hint=hint)
    from sciharness.plugins import Plugins

    with opened(ctx) as home:
        plugin = Plugins(home).admitted(subject)
    return check_installed(plugin, examples=examples)
