"""Registers the reviewer `example.yara.rules`."""

from importlib.resources import files

from sciharness import Context, Package, Review, Reviewer, hookimpl

HOOK_API = 1
SCAN_SECONDS = 60


def scan(package: Package, context: Context) -> Review:
    """Refuse a package one of whose files a rule matches."""
    import yara  # a native library: loaded where it is used

    # From the verified bytes of this distribution, not from the disk.
    rules = yara.compile(source=files(__package__).joinpath("rules.yar").read_text("utf-8"))
    found = []
    for name in package.files:
        data = (package.folder / name).read_bytes()
        for match in rules.match(data=data, timeout=SCAN_SECONDS):
            found.append(f"{name}: {match.rule}, {match.meta['description']}")
    return Review(accepted=not found, findings=tuple(found))


@hookimpl
def harness_reviewers() -> list[Reviewer]:
    """Return what judges packages."""
    return [Reviewer(operation="rules", run=scan, summary="Refuses what a YARA rule matches.")]
