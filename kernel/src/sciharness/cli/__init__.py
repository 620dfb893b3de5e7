"""The command line `harness`; commands are imported when they are called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

# name -> (module:attribute, one line of help). The help lines stand here so
# that `harness --help` imports no command.
COMMANDS = {
    "approve": ("control:approve", "Approve a verification plan by name and words."),
    "budget": ("budget:budget", "Show the budget of a run; raise a limit and go on."),
    "call": ("call:call", "Run one capability outside any run."),
    "cancel": ("control:cancel", "End a run now and keep what it has done."),
    "check": ("contract:check", "Check a contract without running it."),
    "criteria": ("criteria:criteria", "Show or revise the acceptance criteria of a run."),
    "data": ("data:data", "Check, describe and convert context.data directories."),
    "doctor": ("doctor:doctor", "Show versions, engines, isolation and the state of the home."),
    "events": ("records:events", "Print the events of a run."),
    "export": ("records:export", "Write a run into one folder or ZIP."),
    "gc": ("control:gc", "Remove what no run needs."),
    "init": ("contract:init", "Write a commented contract to start from."),
    "list": ("records:list_runs", "List the runs of this home."),
    "lock": ("contract:lock", "Pin the leased capabilities in contract.lock."),
    "new": ("new:new", "Create a run without starting it, or copy a configuration."),
    "pause": ("control:pause", "Pause a run at its next safe point, or at once."),
    "plugin": ("plugins:plugin", "Show, admit and verify plugins."),
    "replay": ("replay:replay", "Run the recorded actions again and compare."),
    "predict": ("generated:predict", "Predict a table by a generated plugin."),
    "profile": ("profile:profile", "Say what a file or folder is, without running it."),
    "report": ("records:report", "Show the report of a run."),
    "resume": ("run:resume", "Continue a paused or interrupted run."),
    "run": ("run:run", "Run a contract, or continue its unfinished run."),
    "schema": ("contract:schema", "Print the JSON Schema of contracts."),
    "solve": ("generated:solve", "Solve a file by a published solver."),
    "show": ("records:show", "Show a run: verdicts, metrics, artifacts, budget."),
    "start": ("run:start", "Start a run made by `new`."),
    "status": ("records:status", "Show where a run stands."),
    "verify": ("records:verify", "Verify the record of a run or an export."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all command names without importing any."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command, or ``None`` if there is no such verb."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name][0].split(":")
        command = getattr(import_module(f"sciharness.cli.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command list from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in sorted(COMMANDS)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest verb when the given one does not exist."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"No such command '{name}'.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: harness run examples/copper_expansion/contract.yaml",
)
@click.option(
    "--home",
    type=click.Path(file_okay=False),
    help="Folder of runs and plugins (HARNESS_HOME; default: the user's data folder).",
)
@click.option("-v", "--verbose", is_flag=True, help="Log what happens to stderr.")
@click.version_option(package_name="sciharness", prog_name="harness")
@click.pass_context
def harness(ctx: click.Context, home: str | None, verbose: bool) -> None:
    """Turn a research contract into a result one can trust."""
    if verbose:
        from sciharness.logs import show_logs

        show_logs()
    ctx.obj = {"home": home or os.environ.get("HARNESS_HOME") or None}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with the exit code of `interfaces`."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not _streams_closed():
        sys.exit(_invoke(words))


def _streams_closed() -> bool:
    return sys.stdout is None or sys.stderr is None


def _invoke(words: list[str]) -> int:
    try:
        code = harness.main(args=words, prog_name="harness", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.Abort:
        click.echo("interrupted", err=True)
        return 130
    except click.ClickException as fault:
        return _usage(fault, "--json" in words)
    except (BrokenPipeError, SystemExit):
        # click makes an exit of a broken pipe; no command leaves that way by itself.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except Exception as fault:  # noqa: BLE001 - every failure ends in one message and its code
        from sciharness.cli.output import report_failure

        return report_failure(fault, as_json="--json" in words)


def _usage(fault: click.ClickException, as_json: bool) -> int:
    if as_json:
        from sciharness.cli.output import print_error
        from sciharness.errors import UsageError

        print_error(UsageError(fault.format_message(), hint="Run `harness --help`."))
    else:
        fault.show()
    return 2
