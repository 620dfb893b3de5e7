"""Commands that read the record: list, status, show, events, verify, export, report."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sciharness.cli.common import RUN, as_json, opened
from sciharness.cli.output import print_json, say

if TYPE_CHECKING:
    from sciharness.store.runs import Run

_FOLLOW_SECONDS = 0.2


@click.command("list", epilog="Example: harness list --json")
@as_json
@click.pass_context
def list_runs(ctx: click.Context, json_output: bool) -> None:
    """List the runs of this home, oldest first."""
    from sciharness.store.runs import Runs

    with opened(ctx) as home:
        runs = Runs(home).listing()
    if json_output:
        print_json({"runs": [run.to_dict() for run in runs]})
        return
    if not runs:
        say("No runs yet. Start with `harness init contract.yaml`.")
    for run in runs:
        delivery = "" if run.delivery in {"none", "succeeded"} else f" (delivery {run.delivery})"
        click.echo(f"{run.run_id}  {run.created[:19]}  {run.status:<16}{delivery} {run.title}")


@click.command(epilog="Example: harness status 3")
@RUN
@as_json
@click.pass_context
def status(ctx: click.Context, run: str, json_output: bool) -> None:
    """Show where a run stands; exit code 0 whatever its status is."""
    from sciharness.cli.summary import describe
    from sciharness.runtime.looking import view_of

    with opened(ctx) as home:
        view, _ = view_of(home, run)
    if json_output:
        print_json(view)
    else:
        click.echo(describe(view))


@click.command(epilog="Example: harness show 3 --json")
@RUN
@as_json
@click.pass_context
def show(ctx: click.Context, run: str, json_output: bool) -> None:
    """Show a run: verdicts, formula, metrics, artifacts, budget."""
    from sciharness.cli.summary import describe, formulas_of
    from sciharness.runtime.looking import view_of
    from sciharness.store.artifacts import ArtifactStore

    with opened(ctx) as home:
        view, state = view_of(home, run)
        if json_output:
            print_json(view)
            return
        click.echo(describe(view, formulas_of(state, ArtifactStore(home))))
    for metric in view["metrics"]:
        origin = f"{metric['source']}, {metric['capability']}"
        click.echo(f"metric: {metric['name']} = {metric['value']:.6g} ({origin})")
    for action in (*state.actions, *state.refusals):
        tail = f": {action.message}" if action.message else ""
        click.echo(f"action: {action.step} {action.capability} {action.status}{tail}")
    for artifact in view["artifacts"]:
        name = f"{artifact['step']}.{artifact['name']}"
        click.echo(f"artifact: {name} ({artifact['type']}) {artifact['path']}")


@click.command(epilog="Example: harness events 3 --follow")
@RUN
@click.option("--follow", is_flag=True, help="Go on printing until the run ends.")
@as_json
@click.pass_context
def events(ctx: click.Context, run: str, follow: bool, json_output: bool) -> None:
    """Print the events of a run, one line each; with --json one JSON object per line."""
    from sciharness.store.events import EventLog
    from sciharness.store.runs import Runs

    with opened(ctx) as home:
        run_id, seen, going = Runs(home).find(run).run_id, 0, True
        while going:
            # Looked at before the events: what comes in between is still printed.
            going = follow and _goes_on(Runs(home).get(run_id))
            for event in EventLog(home).read(run_id, after=seen):
                seen = event.seq
                click.echo(_event_line(event.seq, event.time, event.kind, event.body, json_output))
            if going:
                time.sleep(_FOLLOW_SECONDS)


def _goes_on(run: Run) -> bool:
    return run.is_owned or run.status in {"created", "running"}


def _event_line(seq: int, when: str, kind: str, body: object, json_output: bool) -> str:
    text = json.dumps(body, ensure_ascii=False, sort_keys=True)
    if json_output:
        return json.dumps(
            {"seq": seq, "time": when, "kind": kind, "body": body}, ensure_ascii=False
        )
    return f"{seq:>5}  {when[:19]}  {kind:<16} {text[:160]}{'…' if len(text) > 160 else ''}"


@click.command(epilog="Example: harness verify 3    or: harness verify export.zip")
@click.argument("what", metavar="RUN|EXPORT")
@as_json
@click.pass_context
def verify(ctx: click.Context, what: str, json_output: bool) -> None:
    """Verify a run (events, artifacts) or an export; nothing but the export is needed there."""
    path = Path(what)
    _refuse_no_export(path)
    if path.exists():
        from sciharness.export import verify_export

        report = verify_export(path).to_dict()
    else:
        from sciharness.runtime.looking import verify_run

        with opened(ctx) as home:
            report = verify_run(home, what)
    if json_output:
        print_json(report)
    else:
        for name, value in report.items():
            click.echo(f"{name}: {value}")
        click.echo("verified")


def _refuse_no_export(path: Path) -> None:
    from sciharness.errors import DataError

    hint = "An export is a folder or a .zip that `harness export` or `harness run` has written."
    if path.is_file():
        with path.open("rb") as stream:
            if stream.read(4) != b"PK\x03\x04":
                raise DataError("is no export", where=str(path), hint=hint)
    elif not path.exists() and (path.suffix == ".zip" or len(path.parts) > 1):
        raise DataError("there is no such file or folder", where=str(path), hint=hint)


@click.command(epilog="Example: harness export 3 --out pendulum.zip")
@RUN
@click.option("--out", type=click.Path(path_type=Path), help="Folder or .zip file to write.")
@click.option(
    "--candidate",
    type=click.IntRange(min=0),
    metavar="K",
    help="Also formula K of formulas.json as a predictor; its metrics are reported only.",
)
@as_json
@click.pass_context
def export(
    ctx: click.Context, run: str, out: Path | None, candidate: int | None, json_output: bool
) -> None:
    """Write a run into one folder or ZIP that can be verified anywhere."""
    from sciharness.runtime.looking import export_run, state_of
    from sciharness.store.runs import Runs

    with opened(ctx) as home:
        run_id = Runs(home).find(run).run_id
        made = None
        if candidate is not None:
            from sciharness.runtime.candidates import make_candidate

            made = make_candidate(home, state_of(home, run_id), candidate)
        place = out or Path(f"{run_id}-export")
        written = export_run(home, run_id, place, made.placed() if made else None)
    chosen = {"candidate": {**made.facts, "folder": made.folder}} if made else {}
    if made is not None:
        say(f"{made.folder}: {made.facts['target']} = {made.facts['formula']}")
        say(str(made.facts["note"]))
    if json_output:
        reviews = {"reviews": [one.to_dict() for one in written.reviews]} if written.reviews else {}
        print_json({"run_id": run_id, "export": str(written.path.resolve()), **reviews, **chosen})
    else:
        click.echo(str(written.path))
    for one in written.reviews:
        performed = str(one.independent_binary_review_performed).lower()
        say(f"{one.package}: independent_binary_review_performed: {performed} ({one.policy})")


@click.command(epilog="Example: harness report 3 --open")
@RUN
@click.option("--open", "open_it", is_flag=True, help="Open the report in the browser.")
@click.option("--markdown", is_flag=True, help="Print the Markdown report on stdout.")
@as_json
@click.pass_context
def report(ctx: click.Context, run: str, open_it: bool, markdown: bool, json_output: bool) -> None:
    """Show where the report of a run lies, print it, or open it."""
    from sciharness.runtime.looking import report_file

    with opened(ctx) as home:
        path = report_file(home, run, "report.md" if markdown else "report.html")
    if json_output:
        text = {"markdown": path.read_text("utf-8")} if markdown else {}
        print_json({"report": str(path), **text})
    elif markdown:
        click.echo(path.read_text("utf-8"), nl=False)
    else:
        click.echo(str(path))
    if open_it:
        click.launch(path.as_uri())
