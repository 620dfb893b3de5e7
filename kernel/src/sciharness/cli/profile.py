"""The command `harness profile`: what would be shown of an attachment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from sciharness.cli.common import as_json
from sciharness.cli.output import print_json, say


@click.command(epilog="Example: harness profile mysolver/ --json")
@click.argument("attachment", type=click.Path(path_type=Path), metavar="FILE|FOLDER")
@as_json
def profile(attachment: Path, json_output: bool) -> None:
    """Show what would be shown of an attachment: structure and names, no rows, no source.

    Nothing of it is run, imported or unpacked. It is read in a confined worker
    with bounds of 2 s of CPU time and 512 MiB. An attachment that breaks a rule
    is refused by the name of the rule, exit code 3.
    """
    from sciharness.profiles import profile as profile_of
    from sciharness.profiles._text import shown

    found = profile_of(attachment)
    if json_output:
        print_json(found.to_dict())
        return
    click.echo(f"{shown(attachment.name or str(attachment))}: {found.kind}, {found.bytes} bytes")
    click.echo(f"sha256: {found.sha256}")
    click.echo(f"roles: {', '.join(found.roles)}")
    _print_facts(found.facts, "")
    for warning in found.warnings:
        say(f"warning: {warning}")


def _print_facts(facts: Mapping[str, Any], indent: str) -> None:  # Any: JSON values
    for name, value in facts.items():
        if isinstance(value, dict) and value:
            click.echo(f"{indent}{name}:")
            _print_facts(value, indent + "  ")
        elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
            click.echo(f"{indent}{name}: {len(value)}")
            for one in value[:40]:
                click.echo(f"{indent}  {_line_of(one)}")
            if len(value) > 40:
                click.echo(f"{indent}  ... and {len(value) - 40} more, all with --json")
        else:
            click.echo(f"{indent}{name}: {_word_of(value)}")


def _line_of(fact: Mapping[str, Any]) -> str:  # Any: JSON values
    said = {name: value for name, value in fact.items() if name != "text"}
    line = ", ".join(f"{name} {_word_of(value)}" for name, value in said.items())
    shown = fact.get("text")
    return line if shown is None else f"{line}, {len(str(shown))} characters (with --json)"


def _word_of(value: Any) -> str:  # Any: JSON values
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, list):
        return ", ".join(_word_of(one) for one in value) or "-"
    return repr(value) if isinstance(value, str) and not value.strip() else str(value)
