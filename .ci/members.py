"""Rebuild changed members, install them here, and rewrite their approvals.

python .ci/members.py                  all members, installed from built wheels
python .ci/members.py --editable       catalog and kernel editable (and stay so), the rest built
python .ci/members.py NAME ...         only these (folder or distribution names)
python .ci/members.py --check          say whether the approvals are true, change nothing
python .ci/members.py --wheels DIR     build every wheel into DIR, install nothing
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WHEELHOUSE = ROOT / ".wheelhouse"
sys.path.insert(0, str(ROOT / "catalog" / "src"))  # works before anything is installed

from attrs import frozen  # noqa: E402

from sciharness_catalog.approvals import Approval, approval_text  # noqa: E402
from sciharness_catalog.distributions import find_distribution  # noqa: E402
from sciharness_catalog.errors import HarnessError  # noqa: E402
from sciharness_catalog.verify import read_package  # noqa: E402
from sciharness_catalog.wheels import Wheel, read_wheel  # noqa: E402

APPROVALS = ROOT / "catalog" / "src" / "sciharness_catalog" / "approvals"
GROUP = "sciharness.plugins"
# Whom we trust is decided here and reviewed here; no package says it of itself.
TRUSTED_METRICS = {"sciharness-evaluation"}
TRUSTED_LABELS = {"sciharness-xsuite"}
# Not plugins, but their code is loaded inside workers.
LOADED_WITH_PLUGINS = {"sciharness-publisher"}
MAY_BE_EDITABLE = {"catalog", "kernel"}
EPOCH = "1577836800"  # 2020-01-01: a build depends on the source alone


@frozen
class Member:
    """One distribution of this repository."""

    folder: Path
    name: str

    @property
    def needs_approval(self) -> bool:
        """Whether its code is loaded inside workers."""
        settings = tomllib.loads((self.folder / "pyproject.toml").read_text("utf-8"))
        points = settings["project"].get("entry-points", {})
        return GROUP in points or self.name in LOADED_WITH_PLUGINS


@frozen
class Built:
    """A member with the wheel that its source gives now."""

    member: Member
    path: Path
    wheel: Wheel


def members() -> list[Member]:
    """Return the members, lowest layer first."""
    folders = [ROOT / "catalog", ROOT / "kernel", ROOT / "publisher"]
    folders += sorted((ROOT / "capabilities").iterdir())
    found = []
    for folder in folders:
        settings = folder / "pyproject.toml"
        if settings.is_file():
            name = tomllib.loads(settings.read_text("utf-8"))["project"]["name"]
            found.append(Member(folder, name))
    return found


def build(member: Member, out: Path) -> Built:
    """Build a member's wheel in this process into ``out``."""
    from flit_core.wheel import make_wheel_in

    hidden = sorted(path for path in (member.folder / "src").rglob(".*"))
    if hidden:
        raise ValueError(f"{hidden[0].relative_to(ROOT)} would get into the wheel; remove it")
    os.environ["SOURCE_DATE_EPOCH"] = EPOCH
    with tempfile.TemporaryDirectory(dir=out) as fresh:
        made = make_wheel_in(member.folder / "pyproject.toml", Path(fresh)).file
        target = out / made.name
        os.replace(made, target)
    return Built(member, target, read_wheel(target))


def build_all(chosen: Sequence[Member], out: Path) -> tuple[list[Built], list[str]]:
    """Build what can be built; say for the rest what is wrong."""
    built, failures = [], []
    for member in chosen:
        try:
            built.append(build(member, out))
        except (HarnessError, Exception) as error:  # noqa: BLE001 a broken member must not stop the others
            failures.append(f"{member.name}: cannot be built: {error}")
    return built, failures


def approval_for(built: Built) -> Approval:
    """Return the approval that the built wheel deserves."""
    metadata = built.wheel.metadata
    return Approval(
        distribution=metadata.name,
        version=metadata.version,
        digest=built.wheel.digest,
        trusted_metrics=metadata.name in TRUSTED_METRICS,
        trusted_labels=metadata.name in TRUSTED_LABELS,
        plugins=tuple(sorted(metadata.entry_points.get(GROUP, {}))),
    )


def stale_approvals(built: Sequence[Built]) -> dict[Path, str]:
    """Return the approval files that are missing or untrue, with the text they should have."""
    wanted = {
        APPROVALS / f"{one.member.name}.json": approval_text(approval_for(one))
        for one in built
        if one.member.needs_approval
    }
    return {
        path: text
        for path, text in wanted.items()
        if not path.is_file() or path.read_text("utf-8") != text
    }


def orphans() -> list[Path]:
    """Return approvals of distributions that are no longer here."""
    names = {f"{member.name}.json" for member in members()}
    return [path for path in sorted(APPROVALS.glob("*.json")) if path.name not in names]


def write_approvals(built: Sequence[Built]) -> None:
    """Rewrite what is untrue, remove what approves nothing."""
    APPROVALS.mkdir(exist_ok=True)
    for path, text in stale_approvals(built).items():
        fresh = path.with_suffix(".new")
        fresh.write_text(text, "utf-8")
        os.replace(fresh, path)
        print(f"approved {path.stem}")
    for path in orphans():
        path.unlink()
        print(f"removed the approval of {path.stem}")


def check_approvals() -> int:
    """Build into a temporary folder and compare; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        built, failures = build_all(members(), Path(folder))
        stale = [path.stem for path in (*stale_approvals(built), *orphans())]
    for failure in failures:
        print(failure, file=sys.stderr)
    for name in stale:
        print(f"{name}: its approval is not true, run `python .ci/members.py`", file=sys.stderr)
    if not stale and not failures:
        print(f"{sum(one.member.needs_approval for one in built)} approvals are true")
    return 1 if stale or failures else 0


def is_installed(built: Built, link: bool) -> bool:
    """Return whether exactly this build, or the wanted editable link, is installed here."""
    try:
        found = find_distribution(built.member.name, [purelib()])
        if found is None or found.editable != link:
            return False
        if link:
            return found.metadata == built.wheel.metadata
        return read_package(found.info).digest == built.wheel.digest
    except HarnessError:
        return False


def is_link(member: Member) -> bool:
    """Return whether the member is an editable install now."""
    try:
        found = find_distribution(member.name, [purelib()])
    except HarnessError:
        return False
    return found is not None and found.editable


def purelib() -> Path:
    """Return the folder that pip of this interpreter installs into."""
    import sysconfig

    return Path(sysconfig.get_path("purelib"))


def install(built: Sequence[Built], *, editable: bool) -> int:
    """Install what is not installed yet, in one go; return pip's exit code."""
    wanted: list[str] = []
    for one in built:
        may = one.member.folder.name in MAY_BE_EDITABLE
        link = may and (editable or is_link(one.member))
        if not is_installed(one, link):
            wanted += ["--editable", str(one.member.folder)] if link else [str(one.path)]
            print(f"installing {one.member.name}{' (editable)' if link else ''}")
    if not wanted:
        return 0
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--force-reinstall"]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    return subprocess.run([*pip, *options, *wanted], check=False).returncode


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Hold the lock of the wheelhouse."""
    WHEELHOUSE.mkdir(exist_ok=True)
    with open(WHEELHOUSE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def refresh(chosen: Sequence[Member], *, editable: bool) -> int:
    """Build, approve and install; return the exit code.

    The catalog carries the approvals, so it is built after they are written.
    """
    with one_at_a_time():
        upper, failures = build_all([m for m in chosen if m.folder.name != "catalog"], WHEELHOUSE)
        write_approvals(upper)
        catalog, more = build_all([m for m in members() if m.folder.name == "catalog"], WHEELHOUSE)
        code = install([*catalog, *upper], editable=editable)
    for failure in failures + more:
        print(failure, file=sys.stderr)
    return 1 if code or failures or more else 0


def choose(names: Sequence[str]) -> list[Member]:
    """Return the members of these names, all of them for none."""
    every = members()
    known = {member.folder.name: member for member in every} | {m.name: m for m in every}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no member {unknown[0]!r}; there are {', '.join(sorted(known))}")
    return [known[name] for name in names] or every


def main() -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--editable", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--wheels", type=Path, metavar="DIR")
    options = parser.parse_args()
    if options.check:
        return check_approvals()
    if options.wheels is None:
        return refresh(choose(options.names), editable=options.editable)
    options.wheels.mkdir(parents=True, exist_ok=True)
    built, failures = build_all(choose(options.names), options.wheels)
    for failure in failures:
        print(failure, file=sys.stderr)
    print("\n".join(str(one.path) for one in built))
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
