"""A reviewer: packages hold texts and tables, nothing that a loader would execute unseen."""

from pathlib import PurePosixPath

from sciharness import Context, Package, Review, Reviewer

UNSEEN = {".so", ".dll", ".dylib", ".pyc", ".pyd", ".pickle", ".pkl"}


def plain_files(package: Package, context: Context) -> Review:
    """Refuse native code, bytecode and pickles."""
    found = [name for name in package.files if PurePosixPath(name).suffix.lower() in UNSEEN]
    return Review(accepted=not found, findings=tuple(f"{name} is not plain" for name in found))


PLAIN_FILES = Reviewer(
    operation="plain_files",
    run=plain_files,
    summary="Refuses native code, bytecode and pickles.",
)
