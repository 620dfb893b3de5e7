"""`harness doctor`: what this installation has, can and lacks."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from sciharness.cli.common import as_json, opened
from sciharness.cli.output import print_json, say

if TYPE_CHECKING:
    from sciharness.store.home import Home

Facts = dict[str, Any]  # Any: JSON values

# distribution -> what it is needed for, and how to get it
_LIBRARIES = {
    "numpy": ("tables, predictors", "pip install numpy"),
    "pandas": ("reading tables", "pip install pandas"),
    "pyarrow": ("Parquet tables", "pip install 'sciharness[parquet]'"),
    "pyoperon": ("symbolic regression engine operon", "pip install sciharness-symbolic-regression"),
    "sympy": ("typeset formulas", "pip install sympy"),
}


@click.command(epilog="Example: harness doctor --json")
@click.option("--fsck", is_flag=True, help="Re-hash every artifact and verify every run.")
@click.option(
    "--accept-catalog",
    is_flag=True,
    help="Take the database as it is for the newest: after putting back a backup on purpose.",
)
@as_json
@click.pass_context
def doctor(ctx: click.Context, fsck: bool, accept_catalog: bool, json_output: bool) -> int:
    """Show versions, engines, isolation, disk and the integrity of the home.

    Exit code 7 if the home is damaged.
    """
    with opened(ctx) as home:
        if accept_catalog:
            home.accept_head()
            say("catalog.head now names the state of the database")
        facts = {
            "versions": _versions(),
            "libraries": _libraries(),
            "machine": _machine(home),
            "isolation": _isolation(),
            "sqlite": _sqlite(),
            "plugins": _plugins(home),
            "home": _home(home, fsck),
        }
    if json_output:
        print_json(facts)
    else:
        for section, entries in facts.items():
            click.echo(section)
            for name, value in entries.items():
                click.echo(f"  {name}: {value}")
    return 7 if facts["home"]["problems"] else 0


def _versions() -> Facts:
    from importlib.metadata import version

    return {
        "python": platform.python_version(),
        "sciharness": version("sciharness"),
        "sciharness-catalog": version("sciharness-catalog"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "interpreter": sys.executable,
    }


def _libraries() -> Facts:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name, (purpose, remedy) in _LIBRARIES.items():
        try:
            found[name] = f"{version(name)} ({purpose})"
        except PackageNotFoundError:
            found[name] = f"missing ({purpose}): {remedy}"
    return found


def _machine(home: Home) -> Facts:
    free = shutil.disk_usage(home.path).free
    return {"cores": os.cpu_count(), "free_disk_gib": round(free / 2**30, 1)}


def _isolation() -> Facts:
    from sciharness.workers.confinement import probe

    meaning = {
        "landlock+seccomp": "workers read only what they are given, and open no sockets",
        "landlock": "workers read only what they are given; sockets stay open",
        "none": "no confinement here: a hostile plugin could read the sealed labels",
    }
    programs = {
        "landlock+seccomp": "read their inputs, write their own folder, have no network; "
        "no sandbox: names and sizes of files, the clock and the machine are visible",
        "landlock": "read their inputs, write their own folder; the network is open",
        "none": "have the user's file and network rights",
    }
    found = probe()
    return {"label_isolation": found, "meaning": meaning[found], "programs": programs[found]}


def _sqlite() -> Facts:
    from attrs import asdict

    from sciharness.store.sqlite_facts import sqlite_facts

    return asdict(sqlite_facts())


def _plugins(home: Home) -> Facts:
    from sciharness.plugins import Plugins

    return {
        entry.id: f"{entry.version} {entry.state}" + (f": {entry.reason}" if entry.reason else "")
        for entry in Plugins(home).listing()
    }


def _home(home: Home, full: bool) -> Facts:
    from sciharness.errors import IntegrityError
    from sciharness.store.fsck import fsck
    from sciharness.store.runs import Runs

    facts: Facts = {"path": str(home.path), "runs": len(Runs(home).listing()), "problems": []}
    try:
        home.check_head()
    except IntegrityError as fault:
        facts["problems"] = [str(fault)]
    if full:
        report = fsck(home)
        facts.update(report.to_dict())
        facts["problems"] = [str(problem) for problem in report.problems]
    return facts
