"""Commands about context.data directories: check, describe, convert, guide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from sciharness.cli.common import as_json
from sciharness.cli.output import print_json, say

DIRECTORY = click.argument("directory", type=click.Path(path_type=Path), metavar="DIR")


@click.group(epilog="Example: harness data check examples/data/yearly_table")
def data() -> None:
    """Check, describe and convert context.data directories."""


@data.command(epilog="Example: harness data check examples/data/yearly_table --json")
@DIRECTORY
@as_json
def check(directory: Path, json_output: bool) -> int:
    """Check a directory and name every fault at once.

    Exit code 3 if there is one.
    """
    from sciharness.contextdata import inspect_context_data

    report = inspect_context_data(directory)
    code = 0 if report["valid"] else 3
    if json_output:
        print_json(report)
        return code
    for text in report["errors"]:
        say(f"error: {text}")
    for text in report["warnings"]:
        say(f"warning: {text}")
    for name, facts in report["variables"].items():
        kind = " relation" if facts.get("kind") == "relation" else ""
        shape = " x ".join(map(str, facts["shape"])) or "scalar"
        click.echo(f"variable: {name}{kind} {facts['dtype']} {shape} along {facts['axes']}")
    for name, facts in report["axes"].items():
        click.echo(f"axis: {name} {facts['dtype']} {facts['size']} ({facts['storage']})")
    if report["num_nodes"] is not None:
        click.echo(f"nodes: {report['num_nodes']}")
    click.echo("valid" if report["valid"] else f"{len(report['errors'])} faults")
    return code


@data.command(epilog="Example: harness data describe weather --set 'rain=Rain per day in mm.'")
@DIRECTORY
@click.option(
    "--set", "texts", multiple=True, metavar="NAME=TEXT", help="A new description; may repeat."
)
@click.option("-n", "--dry-run", is_flag=True, help="Show what would be written.")
@as_json
def describe(directory: Path, texts: tuple[str, ...], dry_run: bool, json_output: bool) -> None:
    """Show descriptions of axes and variables, or change some."""
    from sciharness.contextdata import describe as set_descriptions
    from sciharness.errors import UsageError

    changes: dict[str, str] = {}
    for entry in texts:
        name, equals, text = entry.partition("=")
        if not equals or not name:
            raise UsageError(f"found `{entry}`", where="--set", hint="Write NAME=TEXT.")
        changes[name] = text
    found = set_descriptions(directory, changes or None, dry_run=dry_run)
    if json_output:
        print_json({"descriptions": found})
        return
    for name, text in found.items():
        click.echo(f"{name}: {text}")


@data.command(epilog="Example: harness data convert weather.csv weather --index day")
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--axis", default="row", show_default=True, help="Name of the axis of the rows.")
@click.option("--index", metavar="COLUMN", help="The column whose entries are the axis.")
@click.option("--text", multiple=True, metavar="COLUMN", help="A CSV column to keep as text.")
@click.option("--delimiter", help="Of a CSV source; default: comma, in .tsv files tab.")
@as_json
def convert(
    source: Path,
    out: Path,
    axis: str,
    index: str | None,
    text: tuple[str, ...],
    delimiter: str | None,
    json_output: bool,
) -> None:
    """Convert CSV, TSV, Parquet or NPZ into a directory, or back.

    Lossless, or refused by the name of what would be lost. Nothing is overwritten.
    """
    options = {"axis": axis, "index": index, "text": text, "delimiter": delimiter}
    written = _into_file(source, out) if source.is_dir() else _into_folder(source, out, options)
    if json_output:
        print_json({"source": str(source), "written": str(written)})
    else:
        click.echo(str(written))


def _into_file(source: Path, out: Path) -> Path:
    from sciharness import contextdata

    writers: dict[str, Callable[[Path, Path], Path]] = {
        ".csv": lambda one, other: contextdata.to_csv(one, other),
        ".tsv": lambda one, other: contextdata.to_csv(one, other),
        ".npz": lambda one, other: contextdata.to_npz(one, other),
        ".parquet": lambda one, other: contextdata.to_parquet(one, other),
    }
    return writers[_kind(out, writers)](source, out)


def _into_folder(source: Path, out: Path, options: dict[str, Any]) -> Path:  # Any: option values
    from sciharness import contextdata

    axis, index = options["axis"], options["index"]
    readers: dict[str, Callable[[], object]] = {
        ".csv": lambda: contextdata.from_csv(source, out, **options),
        ".tsv": lambda: contextdata.from_csv(source, out, **options),
        ".npz": lambda: contextdata.from_npz(source, out, axis=axis),
        ".parquet": lambda: contextdata.from_parquet(source, out, axis=axis, index=index),
    }
    readers[_kind(source, readers)]()
    return out


def _kind(path: Path, known: dict[str, Any]) -> str:  # Any: converters of both directions
    from sciharness.errors import UsageError

    kind = path.suffix.lower()
    if kind not in known:
        raise UsageError(
            f"the extension is {kind or 'missing'!r}",
            where=str(path),
            hint=f"Expected one of {', '.join(sorted(known))}, and a directory on the other side.",
        )
    return kind


@data.command(epilog="Example: harness data guide | less")
def guide() -> None:
    """Print how to prepare a context.data directory."""
    from sciharness.contextdata import guide as guide_text

    click.echo(guide_text())
