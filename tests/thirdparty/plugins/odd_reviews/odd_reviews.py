"""Reviewers that do odd things."""

from __future__ import annotations

import os

from sciharness import Context, Package, Review, Reviewer, hookimpl


def raises(package: Package, context: Context) -> Review:
    """Fail to look."""
    raise RuntimeError("the scanner is gone")


def crashes(package: Package, context: Context) -> Review:
    """End the worker."""
    os.abort()


def nothing(package: Package, context: Context) -> None:
    """Say nothing."""


def refuses(package: Package, context: Context) -> Review:
    """Refuse everything."""
    return Review(accepted=False, findings=("never liked it",))


def looks(package: Package, context: Context) -> Review:
    """Tell what can be seen and done."""
    found = [f"files: {' '.join(package.files)}", f"facts: {sorted(package.facts)}"]
    named = f"{package.id} {package.version} ({package.origin})"
    found.append(f"stage: {package.stage} of {named}")
    # The home lies four folders above the package: HOME/tmp/review-X/package.
    home = package.folder.parents[2]
    for what, place in (("write", package.folder / "new"), ("vault", home / "vault/labels.csv")):
        try:
            place.write_text("", "utf-8") if what == "write" else place.read_text("utf-8")
        except OSError as error:
            found.append(f"{what}: {type(error).__name__}")
    if len(found) < 5:
        return Review(accepted=True, findings=("unconfined",))
    return Review(accepted=True, findings=tuple(found))


@hookimpl
def harness_reviewers() -> list[Reviewer]:
    """Register the reviewers."""
    return [
        Reviewer("raises", raises, "Raises."),
        Reviewer("crashes", crashes, "Crashes."),
        Reviewer("nothing", nothing, "Says nothing."),  # type: ignore[arg-type]
        Reviewer("refuses", refuses, "Refuses."),
        Reviewer("looks", looks, "Looks around."),
    ]
