"""Options and helpers that several commands share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sciharness.store.home import Home

RUN = click.argument("run", metavar="RUN")

WORKERS = click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=lambda: os.cpu_count() or 1,
    show_default="number of cores",
    help="Threads that one action may use.",
)

as_json = click.option("--json", "json_output", is_flag=True, help="Print JSON on stdout.")

dry_run = click.option(
    "-n", "--dry-run", "dry_run", is_flag=True, help="Show what would change; change nothing."
)


def home_path(ctx: click.Context) -> Path | None:
    """Return the home given by --home or HARNESS_HOME, or ``None`` for the default."""
    given = ctx.find_root().obj["home"]
    return Path(given) if given else None


@contextmanager
def opened(ctx: click.Context) -> Iterator[Home]:
    """Open the home for one command."""
    from sciharness.store.home import Home

    with Home.open(home_path(ctx)) as home:
        yield home
