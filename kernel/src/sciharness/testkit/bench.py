"""A bench: a plugin from its project, its wheel or this installation, run in real workers."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from attrs import define, field

from sciharness.descriptors import Descriptor, Operation
from sciharness.errors import PluginError, UsageError
from sciharness.hooks import ENTRY_POINT_GROUP
from sciharness.plugin import Input
from sciharness.roles import Finish, Launch, Proposal, Review
from sciharness.testkit.here import Tried, answer_of
from sciharness.workers.consulting import Subject
from sciharness.workers.load_set import LoadSet
from sciharness.workers.pool import Job, Workers
from sciharness_catalog.distributions import InstalledPlugin, find_plugins, search_path
from sciharness_catalog.leasing import load_set
from sciharness_catalog.pins import Pin

BUILD_SECONDS = 600.0


@define
class Bench:
    """One plugin under test and the workers that run it; use it in a ``with`` statement.

        with Bench.of(Path("my_plugin")) as bench:
            tried = bench.run("count", {}, {"data": data})

    Nothing is admitted and no home is touched. Files lie in ``folder`` until
    the block ends.
    """

    folder: Path
    plugin: InstalledPlugin
    package: LoadSet
    workers: Workers
    _descriptor: Descriptor | None = None
    _count: int = 0
    _closing: list[Callable[[], object]] = field(factory=list)

    @classmethod
    def of(cls, path: Path, plugin_id: str = "") -> Bench:
        """Return a bench for a project folder or a wheel, which is built and installed apart.

        Raises:
            UsageError: it is neither, holds no plugin, or several and none is named.
            PluginError: it cannot be built or installed.
            IntegrityError: its files are not what a plugin may hold.
        """
        folder = Path(tempfile.mkdtemp(prefix="harness-bench-"))
        try:
            site = _installed(path, folder)
            found = [one for one in find_plugins([site]) if plugin_id in ("", one.plugin_id)]
            if len(found) != 1:
                named = ", ".join(one.plugin_id for one in found) or "none"
                raise UsageError(
                    f"expected one plugin in the group {ENTRY_POINT_GROUP}, found {named}",
                    where=path.name,
                    hint="Name it in [project.entry-points] of pyproject.toml.",
                )
            return cls.on(found[0], folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    @classmethod
    def on(cls, plugin: InstalledPlugin, folder: Path | None = None) -> Bench:
        """Return a bench for an installed plugin.

        Raises:
            IntegrityError: its files are not what was installed.
        """
        place = folder or Path(tempfile.mkdtemp(prefix="harness-bench-"))
        own, *libraries = load_set(plugin, path=[plugin.root, *search_path()])
        bench = cls(place, plugin, LoadSet(own, tuple(libraries)), Workers(place / "workers"))
        bench._closing = [bench.workers.close, lambda: shutil.rmtree(place, ignore_errors=True)]
        return bench

    @property
    def descriptor(self) -> Descriptor:
        """What the plugin registers, asked of a worker once.

        Raises:
            PluginError: it does not load, or registers something else than records.
        """
        if self._descriptor is None:
            self._descriptor = self.workers.describe(self.package)
        return self._descriptor

    def operation(self, name: str) -> Operation:
        """Return one of its operations.

        Raises:
            PluginError: there is none of that name.
        """
        for one in self.descriptor.operations:
            if one.operation == name:
                return one
        raise PluginError(f"registers no {name!r}", where=self.plugin.plugin_id)

    def run(
        self,
        operation: str,
        request: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Input] | None = None,
        **job: Any,
    ) -> Tried:
        """Run an operation in a fresh confined worker; ``job`` are fields such as ``seed``.

        Raises:
            ActionFailed: with the typed reason that a run would record.
        """
        events: list[Mapping[str, Any]] = []
        cancelled = job.pop("cancelled", lambda: False)
        result = self.workers.run(
            self._job(operation, request, inputs, job), events.append, cancelled
        )
        artifacts = {one.name: one.path for one in result.artifacts}
        return Tried(result.metrics, artifacts, result.notes, result.usage, tuple(events))

    def ask(
        self, operation: str, options: Mapping[str, Any] | None, subject: Subject, **job: Any
    ) -> Proposal | Finish | Launch | Review:
        """Ask a reasoner, an executor or a reviewer in a fresh confined worker.

        Raises:
            ActionFailed: with the typed reason that a run would record.
        """
        given = self._job(operation, options, job.pop("inputs", None), {**job, "subject": subject})
        return answer_of(self.workers.consult(given).answer)

    def scratch(self) -> Path:
        """Return a new empty folder of the bench."""
        self._count += 1
        place = self.folder / f"scratch-{self._count}"
        place.mkdir()
        return place

    def close(self) -> None:
        """End the workers and remove the files."""
        for step in self._closing:
            step()
        self._closing = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _job(
        self,
        operation: str,
        request: Mapping[str, Any] | None,
        inputs: Mapping[str, Input] | None,
        fields: Mapping[str, Any],
    ) -> Job:
        verified = self.package.package
        return Job(
            pin=Pin(verified.plugin_id, verified.version, operation, verified.digest),
            operation=self.operation(operation),
            package=self.package,
            request=request or {},
            inputs=inputs or {},
            workspace=self.scratch(),
            fresh=True,
            **fields,
        )


def _installed(path: Path, folder: Path) -> Path:
    """Build and install what lies at ``path`` and return the site folder."""
    wheel = path
    if path.is_dir():
        wheel = _wheel_of(path, folder / "wheels")
    elif path.suffix != ".whl" or not path.is_file():
        raise UsageError(
            "is no project folder and no wheel", where=str(path), hint="Give one of the two."
        )
    site = folder / "site"
    options = ["--no-index", "--no-deps", "--no-compile", "--target", str(site)]
    _pip(["install", *options, str(wheel)], "cannot be installed", path)
    return site


def _wheel_of(project: Path, out: Path) -> Path:
    settings = project / "pyproject.toml"
    if not settings.is_file():
        raise UsageError("has no pyproject.toml", where=str(project), hint="Give its folder.")
    options = ["--no-deps", "--wheel-dir", str(out)]
    if _backend_is_here(settings):
        options.append("--no-build-isolation")
    # From a copy: building must not leave anything in the author's folder.
    copy = out.parent / "project"
    ignored = shutil.ignore_patterns(".git", ".venv", "venv", "__pycache__", "dist", "build")
    shutil.copytree(project, copy, ignore=ignored)
    _pip(["wheel", *options, str(copy)], "cannot be built", project)
    return next(out.glob("*.whl"))


def _backend_is_here(settings: Path) -> bool:
    import importlib.util

    try:
        backend = tomllib.loads(settings.read_text("utf-8"))["build-system"]["build-backend"]
        return importlib.util.find_spec(str(backend).partition(":")[0]) is not None
    except (KeyError, TypeError, ValueError, ImportError):
        return False


def _pip(words: list[str], failure: str, path: Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
    )
    if done.returncode != 0:
        tail = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise PluginError(f"{failure}:\n{tail}", where=path.name)
