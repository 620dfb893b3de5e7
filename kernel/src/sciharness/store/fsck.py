"""Checking a home or one run: objects re-hashed, chains recomputed, orphans listed."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import asdict, define, field, frozen

from sciharness.errors import HarnessError, IntegrityError
from sciharness.problems import Problem
from sciharness.store import head
from sciharness.store._files import files_in, hash_file
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.chain import Event, Head
from sciharness.store.errors import in_database
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.runs import Runs


@frozen
class HomeReport:
    """What a check of a home has found.

    ``problems`` are damages. ``orphans`` are objects that no event names and
    ``leftovers`` files of broken-off writes: both are harmless.
    """

    runs: int
    events: int
    objects: int
    bytes: int
    problems: tuple[Problem, ...]
    orphans: tuple[str, ...]
    leftovers: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no damage."""
        return not self.problems

    def to_dict(self) -> dict[str, object]:
        """Return the report as JSON values."""
        return asdict(self)


@frozen
class RunReport:
    """What the check of one run has looked at: its chain and its artifacts."""

    run_id: str
    events: int
    head: str
    artifacts: int
    bytes: int

    def to_dict(self) -> dict[str, object]:
        """Return the report as JSON values."""
        return asdict(self)


def verify_run(home: Home, run_id: str) -> RunReport:
    """Recompute the chain of a run and the digest of every artifact that it names.

    Raises:
        UsageError: there is no such run.
        IntegrityError: something was changed or is missing; the message names
            the first bad event, or ``problems`` every bad artifact; or the
            whole database was set back.
    """
    home.check_head()
    end = EventLog(home).verify(run_id)
    _check_heads(home, run_id, end)
    check = _Check(home)
    named = named_objects(EventLog(home).read(run_id))
    sizes = [check.object(sha256, name) for sha256, name in named.items()]
    if check.problems:
        raise IntegrityError(
            "; ".join(str(problem) for problem in check.problems[:3]),
            where=f"run {run_id}",
            hint="Giving the same file again repairs an object; else restore a backup.",
            problems=check.problems,
        )
    return RunReport(run_id, end.count, end.hash, len(named), sum(sizes))


def fsck(home: Home) -> HomeReport:
    """Check a whole home: database, catalog chain, every run's chain, every object."""
    check = _Check(home)
    check.database()
    named, events = check.runs()
    stored = check.objects(named)
    for sha256 in sorted(named.keys() - stored.keys()):
        check.add(f"object {sha256[:12]}", f"nothing ({named[sha256]})", "an artifact of a run")
    return HomeReport(
        runs=len(Runs(home).listing()),
        events=events,
        objects=len(stored),
        bytes=sum(stored.values()),
        problems=tuple(check.problems),
        orphans=tuple(sorted(stored.keys() - named.keys())),
        leftovers=tuple(sorted(path.name for path in home.temporary.iterdir())),
    )


@define
class _Check:
    home: Home
    problems: list[Problem] = field(factory=list)

    def add(self, where: str, found: str, expected: str = "") -> None:
        self.problems.append(Problem("integrity", file=where, found=found, expected=expected))

    def database(self) -> None:
        connection = self.home.connection()
        with in_database():
            for (text,) in connection.execute("PRAGMA quick_check(10)"):
                if text != "ok":
                    self.add("harness.db", text)
        try:
            head.verify(connection)
            self.home.check_head()
        except IntegrityError as error:
            self.add(error.where, error.message)

    def runs(self) -> tuple[dict[str, str], int]:
        """Return which objects are named, by which artifact, and the number of events."""
        log, named, events = EventLog(self.home), dict[str, str](), 0
        for run in Runs(self.home).listing():
            try:
                end = log.verify(run.run_id)
                _check_heads(self.home, run.run_id, end)
                events += end.count
                named.update(named_objects(log.read(run.run_id)))
            except HarnessError as error:
                self.add(error.where, error.message)
        return named, events

    def objects(self, named: dict[str, str]) -> dict[str, int]:
        """Re-hash all objects and return their sizes."""
        return {
            path.name: self.object(path.name, named.get(path.name, ""))
            for path in files_in(self.home.objects)
        }

    def object(self, sha256: str, name: str) -> int:
        """Re-hash one object and return its size."""
        try:
            path = ArtifactStore(self.home).path(sha256)
            blob = hash_file(path)
        except (HarnessError, ValueError, OSError) as error:
            self.add(f"object {sha256[:12]}", f"{error} {name}".strip())
            return 0
        if blob.sha256 != sha256:
            self.add(f"object {sha256[:12]} {name}".strip(), f"other bytes, {blob.size} of them")
        return blob.size


def named_objects(events: Iterable[Event]) -> dict[str, str]:
    """Return the digests that events name, each with the name of its artifact."""
    return {
        entry["sha256"]: str(entry.get("name", ""))
        for event in events
        for entry in event.body.get("artifacts") or ()
    }


def _check_heads(home: Home, run_id: str, end: Head) -> None:
    """Compare a run with what the catalog chain recorded when it ended."""
    # All subjects "run ID COUNT": the mark after a space is an exclamation mark.
    query = "SELECT subject, digest FROM heads WHERE subject >= ? AND subject < ?"
    rows = home.connection().execute(query, (f"run {run_id} ", f"run {run_id}!")).fetchall()
    for subject, digest in rows:
        count = int(subject.rpartition(" ")[2])
        if count > end.count or _hash_at(home, run_id, count) != digest:
            raise IntegrityError(
                f"event {count} is not the one that the run ended with",
                where=f"run {run_id}",
                hint="The record was altered or cut: restore the home from a backup.",
            )


def _hash_at(home: Home, run_id: str, seq: int) -> str:
    query = "SELECT hash FROM events WHERE run_id = ? AND seq = ?"
    row = home.connection().execute(query, (run_id, seq)).fetchone()
    return row[0].hex() if row else ""
