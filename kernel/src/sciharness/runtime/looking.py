"""Looking at runs: what commands and the Python API show, export and verify of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from sciharness.errors import UsageError
from sciharness.runtime.state import RunState, fold
from sciharness.runtime.view import View, artifact_paths, run_view
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.runs import Runs

if TYPE_CHECKING:
    from sciharness.reviewing import Reviews


def state_of(home: Home, prefix: str) -> RunState:
    """Return the state of the run whose ID starts with ``prefix``.

    A run that says running while no living process owns it is interrupted.

    Raises:
        UsageError: no run fits, or several do.
    """
    run = Runs(home).find(prefix)
    state = fold(run.run_id, EventLog(home).read(run.run_id))
    if run.status == "interrupted":
        state.status = "interrupted"
    return state


def view_of(home: Home, prefix: str) -> tuple[View, RunState]:
    """Return what `show` prints of a run, with places of its artifacts, and its state."""
    state = state_of(home, prefix)
    view = run_view(state, artifact_paths(state, home.objects))
    if state.export is not None:
        view["export"] = str(home.path / state.export)
    return view, state


@frozen
class Exported:
    """Where an export lies, and what reviewers said of each package that left with it."""

    path: Path
    reviews: tuple[Reviews, ...] = ()


def export_run(
    home: Home, prefix: str, out: Path, extra: Mapping[str, bytes] | None = None
) -> Exported:
    """Write the export of a run to a folder or ``.zip`` file; return it and its reviews.

    ``extra`` are further files by their paths in the export. What the run has
    published is reviewed again.

    Raises:
        IntegrityError: a reviewer refused it.
    """
    # Imported here and below: most looks at a run need neither.
    from sciharness.export import build_export
    from sciharness.runtime.delivery import export_files

    state = state_of(home, prefix)
    reviews: tuple[Reviews, ...] = ()
    if state.packages or state.documents:
        from sciharness.runtime.export_review import review_export

        reviews = review_export(home, state)
    path = build_export(
        home,
        state.run_id,
        out,
        state=run_view(state),
        files={**export_files(EventLog(home), state.run_id), **(extra or {})},
        zip=out.suffix == ".zip",
        replace=True,
    )
    return Exported(path, reviews)


def verify_run(home: Home, prefix: str) -> dict[str, object]:
    """Verify the chain of a run and every artifact that it names.

    Raises:
        IntegrityError: naming the first event or every artifact that is damaged,
            or a claim that names no evidence of the run.
    """
    from sciharness.runtime.claims import check_claims
    from sciharness.store import fsck

    run_id = Runs(home).find(prefix).run_id
    report = fsck.verify_run(home, run_id).to_dict()
    state, store = fold(run_id, EventLog(home).read(run_id)), ArtifactStore(home)
    claims = check_claims(state.artifacts, lambda item: store.path(item.sha256))
    return {**report, "claims": claims}


def report_file(home: Home, prefix: str, name: str) -> Path:
    """Return the newest report of a run as a file with a readable name.

    Raises:
        UsageError: the run has no report of that name.
    """
    state = state_of(home, prefix)
    found = [item for item in state.artifacts if item.name == name and item.action >= 0]
    if not found:
        raise UsageError(
            f"the run has no {name}",
            where=state.run_id,
            hint="Reports are written at the end of a run; see `harness show`.",
        )
    if state.export is not None:
        exported = home.path / state.export / name
        if exported.is_file():
            return exported
    return ArtifactStore(home).path(found[-1].sha256)
