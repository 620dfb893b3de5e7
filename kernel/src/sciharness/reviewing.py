"""Reviews of packages: every admitted reviewer is asked, and any refusal refuses.

Asked where a package is published, installed or exported. Without an admitted
reviewer the policy is ``permissive_deferred``: it lets the package pass and
says that nobody looked. Neither is code signing nor a verdict of safety.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from attrs import asdict, frozen

from sciharness.errors import HarnessError, IntegrityError
from sciharness.plugin import Input
from sciharness.plugins import Leasable, Plugins
from sciharness.roles import Package, Review
from sciharness.runtime.redact import redact
from sciharness.store.home import Home
from sciharness.workers.consulting import review_of
from sciharness.workers.pool import Job, Workers
from sciharness.workers.texts import plain_text

PERMISSIVE = "permissive_deferred"
INDEPENDENT = "independent_review"

REVIEW_SECONDS = 120.0
_MAX_FINDINGS, _MAX_FINDING = 50, 1000
_NOT_MADE = "no malware scan, signature check, origin authentication or binary review was made"


class ReviewRefusedError(IntegrityError):
    """A reviewer refused a package, or one that has to be asked could not be."""


class ExternalBinarySecurityReviewer(Protocol):
    """What judges a package from outside; replaceable by a site (``harness_reviewers``)."""

    @property
    def name(self) -> str:
        """The word under which its opinion is recorded: a pin, or the name of a policy."""

    def review(self, package: Package) -> Review:
        """Return what it says of a package.

        Raises:
            HarnessError: it could not be asked; that counts as a refusal.
        """


@frozen
class PermissiveDeferred:
    """The default: lets every package pass, and records that nobody looked into it."""

    name: str = PERMISSIVE

    def review(self, package: Package) -> Review:
        """Accept without having looked."""
        return Review(accepted=True, findings=(_NOT_MADE,), performed=False)


@frozen
class PluginReviewer:
    """A reviewer of a plugin, asked in a fresh worker that sees the package and nothing else."""

    lease: Leasable
    pool: Workers
    scratch: Path

    @property
    def name(self) -> str:
        """The pin of the reviewer."""
        return str(self.lease.pin)

    def review(self, package: Package) -> Review:
        """Ask the plugin.

        Raises:
            ActionFailed: it crashed, ran out of time or answered nonsense.
            IntegrityError: its bytes are no longer what was admitted.
        """
        job = Job(
            pin=self.lease.pin,
            operation=self.lease.operation,
            package=self.lease.package(),
            request={},
            inputs={"package": Input("package", package.folder, "directory_bundle")},
            workspace=self.scratch / self.lease.pin.operation,
            wall_limit=REVIEW_SECONDS,
            fresh=True,
            subject=package,
        )
        return review_of(self.pool.consult(job).answer)


@frozen
class MissingReviewer:
    """A reviewer that was admitted and cannot be asked any more: it refuses everything."""

    name: str
    reason: str

    def review(self, package: Package) -> Review:
        """Refuse."""
        plugin_id = self.name.rpartition(".")[0]
        raise IntegrityError(
            f"was admitted and cannot be asked: {self.reason}",
            where=self.name,
            hint=f"Install it again, or run `harness plugin revoke {plugin_id}` to do without.",
        )


@frozen
class Opinion:
    """What one reviewer said; ``reviewer`` is its pin or the name of the policy."""

    reviewer: str
    accepted: bool
    performed: bool
    findings: tuple[str, ...] = ()


@frozen
class Reviews:
    """What was said about one package at one stage."""

    stage: str
    package: str
    opinions: tuple[Opinion, ...]

    @property
    def policy(self) -> str:
        """``permissive_deferred`` if there was nobody to ask, else ``independent_review``."""
        deferred = all(one.reviewer == PERMISSIVE for one in self.opinions)
        return PERMISSIVE if deferred else INDEPENDENT

    @property
    def independent_binary_review_performed(self) -> bool:
        """Whether a reviewer looked into the package."""
        return any(one.performed for one in self.opinions)

    @property
    def accepted(self) -> bool:
        """Whether no reviewer refused."""
        return all(one.accepted for one in self.opinions)

    def check(self) -> None:
        """Let the package pass or stop it.

        Raises:
            ReviewRefusedError: naming the reviewer and what it found.
        """
        for one in self.opinions:
            if not one.accepted:
                raise ReviewRefusedError(
                    f"refused by the reviewer {one.reviewer.partition(' ')[0]}: "
                    + ("; ".join(one.findings) or "no reason given"),
                    where=self.package,
                    hint="Nothing was published, installed or exported of it.",
                )

    def sentence(self) -> str:
        """Return what a person is told where the package is published, installed or exported."""
        if not self.independent_binary_review_performed:
            return f"review: {self.policy}; {_NOT_MADE}"
        names = [one.reviewer.partition(" ")[0] for one in self.opinions if one.performed]
        return f"review: {'passed' if self.accepted else 'refused'} by {', '.join(names)}"

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the reviews as they stand in records and ``--json`` output."""
        return {
            "stage": self.stage,
            "policy": self.policy,
            "independent_binary_review_performed": self.independent_binary_review_performed,
            "accepted": self.accepted,
            "reviews": [{**asdict(one), "findings": list(one.findings)} for one in self.opinions],
        }


def ask_reviewers(
    home: Home,
    package_files: Mapping[str, bytes | Path],
    facts: Mapping[str, Any],  # Any: JSON values
) -> Reviews:
    """Ask every admitted reviewer about a package and return what they say; call ``check`` on it.

    ``package_files`` maps relative paths to bytes or to the file that holds
    them. ``facts`` names at least ``stage`` (``publish``, ``install`` or
    ``export``), ``id``, ``version`` and ``origin``; what else it holds is told
    to the reviewers.
    """
    with _scratch(home) as scratch, Workers(scratch / "pool", hidden=(home.path,)) as pool:
        package = _laid_out(package_files, facts, scratch / "package")
        reviewers = find_reviewers(home, pool, scratch / "answers")
        opinions = tuple(_opinion(reviewer, package) for reviewer in reviewers)
    return Reviews(package.stage, f"{package.id} {package.version}", opinions)


def find_reviewers(
    home: Home, pool: Workers, scratch: Path
) -> tuple[ExternalBinarySecurityReviewer, ...]:
    """Return who has to be asked here: all admitted reviewers, else the default policy."""
    plugins = Plugins(home)
    entries = {entry.id: entry for entry in plugins.listing()}
    found: dict[str, ExternalBinarySecurityReviewer] = {}
    for entry in entries.values():
        for role in entry.roles if entry.state == "admitted" else ():
            if role.kind == "reviewer":
                lease = plugins.role("reviewer", role.name)
                found[role.name] = PluginReviewer(lease, pool, scratch)
    for name in plugins.expected_roles("reviewer"):
        if name not in found:
            entry_now = entries.get(name.rpartition(".")[0])
            reason = entry_now.reason if entry_now is not None else "it is no longer installed"
            found[name] = MissingReviewer(name, reason or "it no longer offers that")
    return tuple(found[name] for name in sorted(found)) or (PermissiveDeferred(),)


def _opinion(reviewer: ExternalBinarySecurityReviewer, package: Package) -> Opinion:
    try:
        said = reviewer.review(package)
    except HarnessError as error:
        said = Review(False, (f"could not be asked: {error}",), performed=False)
    findings = tuple(redact(plain_text(one, _MAX_FINDING)) for one in said.findings)
    return Opinion(reviewer.name, said.accepted, said.performed, findings[:_MAX_FINDINGS])


def _laid_out(
    files: Mapping[str, bytes | Path], facts: Mapping[str, Any], folder: Path
) -> Package:  # Any: JSON values
    for name, content in files.items():
        parts = PurePosixPath(name)
        if parts.is_absolute() or ".." in parts.parts or not parts.parts:
            raise IntegrityError("is no path inside a package", where=name)
        target = folder / parts
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.read_bytes())
    folder.mkdir(parents=True, exist_ok=True)
    named = {key: str(facts[key]) for key in ("stage", "id", "version", "origin")}
    others = {key: value for key, value in facts.items() if key not in named}
    return Package(**named, folder=folder, files=tuple(sorted(files)), facts=others)


@contextmanager
def _scratch(home: Home) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="review-", dir=home.temporary))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
