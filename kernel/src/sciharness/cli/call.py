"""`harness call`: one capability outside any run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sciharness.cli.common import WORKERS, as_json, opened
from sciharness.cli.output import Teller, print_json, say

if TYPE_CHECKING:
    from sciharness.runtime.call import CallResult, Given


@click.command(
    epilog="Example: harness call symbolic_regression.search --input data=pendulum.csv"
    " --input data.target=period --with max_evaluations=100000"
)
@click.argument("capability", metavar="CAPABILITY")
@click.option(
    "--input", "inputs", multiple=True, metavar="NAME=PATH", help="An input, or NAME.FIELD=VALUE."
)
@click.option(
    "--with", "parameters", multiple=True, metavar="KEY=VALUE", help="A parameter, or @FILE."
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for artifacts; default: CAPABILITY-out."
)
@WORKERS
@as_json
@click.pass_context
def call(
    ctx: click.Context,
    capability: str,
    inputs: tuple[str, ...],
    parameters: tuple[str, ...],
    out: Path | None,
    workers: int,
    json_output: bool,
) -> int:
    """Run one capability on files; everything it gives is `reported`.

    There is no vault, no ledger and no record. Exit code 1 if it fails, 3 if
    data or parameters are refused, 130 after Ctrl-C; what it had found by then
    is kept if it stops by itself.
    """
    from sciharness.runtime.call import call_capability
    from sciharness.runtime.signals import stop_on_interrupt
    from sciharness.workers.failures import ActionFailed

    given, values = _given(inputs), _values(parameters)
    folder = out or Path(f"{capability}-out")
    with opened(ctx) as home, stop_on_interrupt(say) as stop:
        try:
            result = call_capability(
                home,
                capability,
                given,
                values,
                folder,
                workers=workers,
                on_event=_teller(),
                cancelled=lambda: stop.asked,
            )
        except ActionFailed as failure:
            if failure.reason != "cancelled":
                raise
            raise click.Abort from failure
    _print(result, json_output)
    return 130 if stop.asked else 0


def _print(result: CallResult, json_output: bool) -> None:
    if json_output:
        print_json(result.to_dict())
        return
    for name, value in result.metrics.items():
        click.echo(f"{name} = {value:.8g}")
    for artifact in result.artifacts:
        click.echo(_short(Path(str(artifact["path"]))))
    for note in result.notes:
        say(note)


def _short(path: Path) -> str:
    """Return a path from here, if it lies below this folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _teller() -> Callable[[Mapping[str, Any]], None]:  # Any: JSON values
    from sciharness.runtime.progress import progress_line

    started, told = time.monotonic(), Teller()

    def tell(event: Mapping[str, Any]) -> None:  # Any: JSON values
        if "progress" in event:
            told(f"    {progress_line(event['progress'], time.monotonic() - started)}")

    return tell


def _given(inputs: Iterable[str]) -> dict[str, Given]:
    from sciharness.contract.document import parse_value
    from sciharness.errors import UsageError
    from sciharness.runtime.call import Given

    found: dict[str, Given] = {}
    for text in inputs:
        place, equals, value = text.partition("=")
        name, dot, column = place.partition(".")
        if not equals or not name or (dot and not column):
            raise UsageError(
                f"found `{text}`",
                where="--input",
                hint="Write NAME=PATH or NAME.FIELD=VALUE, such as data.target=period.",
            )
        entry = found.setdefault(name, Given())
        if dot:
            entry.fields[column] = parse_value(value, f"--input {place}")
        else:
            entry.path = Path(value)
    return found


def _values(parameters: Iterable[str]) -> dict[str, Any]:  # Any: JSON values
    from sciharness.contract.document import load_document, parse_value
    from sciharness.errors import UsageError

    values: dict[str, Any] = {}
    for text in parameters:
        if text.startswith("@"):
            loaded = load_document(text[1:]).value
            if not isinstance(loaded, dict):
                raise UsageError("holds no mapping", where=text[1:], hint="Write KEY: VALUE lines.")
            values.update(loaded)
            continue
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(f"found `{text}`", where="--with", hint="Write KEY=VALUE or @FILE.")
        _put(values, key.split("."), parse_value(value, f"--with {key}"))
    return values


def _put(values: dict[str, Any], keys: list[str], value: Any) -> None:  # Any: JSON values
    for key in keys[:-1]:
        inner = values.get(key)
        if not isinstance(inner, dict):
            inner = values[key] = {}
        values = inner
    values[keys[-1]] = value
