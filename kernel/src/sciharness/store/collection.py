"""Collection: what no run of a home needs is removed, never beside a run that works.

Objects are stored before the event that names them, and labels are sealed
before the run exists that they belong to. So whatever is younger than a day is
left alone: a living writer may be about to name it.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import asdict, define, frozen

from sciharness.store._files import files_in
from sciharness.store._transactions import locked
from sciharness.store.errors import storing
from sciharness.store.events import EventLog
from sciharness.store.fsck import named_objects
from sciharness.store.home import Home
from sciharness.store.runs import TERMINAL, Run, Runs

GRACE_SECONDS = 24 * 3600.0


@frozen
class Collected:
    """What was removed, or would be: names by kind, and the bytes they take.

    ``objects`` no event names, ``sealed`` belong to no run, ``workspaces`` are
    of ended runs, ``exports`` of runs that are not here, ``leftovers`` files of
    broken-off work.
    """

    objects: tuple[str, ...]
    sealed: tuple[str, ...]
    workspaces: tuple[str, ...]
    exports: tuple[str, ...]
    leftovers: tuple[str, ...]
    bytes: int

    def to_dict(self) -> dict[str, object]:
        """Return the record as JSON values."""
        return asdict(self)


def collect(
    home: Home,
    *,
    dry_run: bool = False,
    grace: float = GRACE_SECONDS,
    now: Callable[[], float] = time.time,
) -> Collected:
    """Remove what no run needs, and return what that was.

    Raises:
        IntegrityError: the record is damaged or was set back: then nobody can
            say what is needed, and nothing is removed.
    """
    home.check_head()
    runs = {run.run_id: run for run in Runs(home).listing()}
    needed: set[str] = set()
    for run in runs.values():
        EventLog(home).verify(run.run_id)
        needed.update(named_objects(EventLog(home).read(run.run_id)))
    sweep = _Sweep(dry_run, now() - grace)
    with storing("collection"), locked(home.objects):
        return Collected(
            objects=sweep.names(_objects(home, needed)),
            sealed=sweep.names(_sealed(home)),
            workspaces=sweep.names(_workspaces(home, runs)),
            exports=sweep.names(_exports(home, runs)),
            leftovers=sweep.names(sorted(home.temporary.iterdir())),
            bytes=sweep.bytes,
        )


@define
class _Sweep:
    dry_run: bool
    before: float
    bytes: int = 0

    def names(self, candidates: Iterator[Path] | list[Path]) -> tuple[str, ...]:
        """Remove those candidates that are old enough; return their names."""
        return tuple(path.name for path in candidates if self._take(path))

    def _take(self, path: Path) -> bool:
        files = [path, *_beneath(path)]
        if any(one.lstat().st_mtime > self.before for one in files):
            return False
        self.bytes += sum(one.lstat().st_size for one in files)
        if not self.dry_run:
            _remove(path)
        return True


def _beneath(path: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(path):
        yield from (Path(folder, name) for name in (*folders, *files))


def _remove(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    # A plugin may have taken the permissions of its own folders away.
    path.chmod(0o700)
    for folder, folders, _ in os.walk(path):
        for inner in (Path(folder, name) for name in folders):
            if not inner.is_symlink():
                inner.chmod(0o700)
    shutil.rmtree(path)


def _objects(home: Home, needed: set[str]) -> Iterator[Path]:
    return (path for path in files_in(home.objects) if path.name not in needed)


def _sealed(home: Home) -> Iterator[Path]:
    rows = home.connection().execute("SELECT DISTINCT key FROM vault").fetchall()
    bound = {str(key) for (key,) in rows}
    return (path for path in sorted(home.vault.iterdir()) if path.name not in bound)


def _workspaces(home: Home, runs: dict[str, Run]) -> Iterator[Path]:
    return (
        path
        for path in sorted(home.workspaces.iterdir())
        if path.name not in runs or _is_over(runs[path.name])
    )


def _is_over(run: Run) -> bool:
    return run.status in TERMINAL - {"budget_exhausted"} and not run.is_owned


def _exports(home: Home, runs: dict[str, Run]) -> Iterator[Path]:
    return (path for path in sorted(home.exports.iterdir()) if path.name not in runs)
