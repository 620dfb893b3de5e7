"""Installing a published predictor: all or nothing, once, by one installer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, Any]]
HARNESS = Path(sysconfig.get_path("scripts")) / "harness"


def sites(home: Path) -> list[str]:
    """Return what lies below the folder of generated plugins, as paths."""
    root = home / "plugins/generated"
    return sorted(str(path.relative_to(root)) for path in root.glob("*/*"))


def test_an_installed_predictor_is_listed_as_generated(home: Path, run: Run) -> None:
    listed = run(home, "plugin", "list", "--json")[1]["plugins"]

    mine = next(entry for entry in listed if entry["id"] == "example.line")
    assert (mine["origin"], mine["state"]) == ("generated", "admitted")
    assert mine["trusted_metrics"] is False
    assert mine["capabilities"] == ["example.line.predict"]


def test_installing_says_that_nobody_looked(
    wheel: Path, empty: Path, tmp_path: Path, run: Run
) -> None:
    _, said = run(empty, "plugin", "install", wheel)

    assert "independent_binary_review_performed: false" in said


def test_installing_again_is_a_no_op(home: Path, wheel: Path, run: Run) -> None:
    code, said = run(home, "plugin", "install", wheel, "--json")

    assert (code, said["already_installed"]) == (0, True)


def test_the_same_version_with_another_attestation_is_a_conflict(
    home: Path, wheel: Path, tmp_path: Path, run: Run, forge: Callable[..., Path]
) -> None:
    other = forge(wheel, tmp_path / "other", changed={"usage_guide.md": b"# Another\n"})

    code, refused = run(home, "plugin", "install", other, "--json")

    assert code == 7
    assert "another attestation" in refused["error"]["message"]


def test_a_wheel_without_attestation_is_refused(
    wheel: Path, empty: Path, tmp_path: Path, run: Run
) -> None:
    wheel.with_name(f"{wheel.name}.attestation.json").unlink()
    (tmp_path / "new.csv").write_text("a,b\n1.5,2.0\n")

    code, said = run(
        empty, "predict", wheel, tmp_path / "new.csv", "-o", tmp_path / "o.csv", "--json"
    )

    assert code == 3
    assert "attestation" in said["error"]["hint"]
    assert not (tmp_path / "o.csv").exists()


def test_a_dry_run_installs_nothing(wheel: Path, empty: Path, tmp_path: Path, run: Run) -> None:
    code, said = run(empty, "plugin", "install", wheel, "--dry-run")

    assert (code, sites(empty)) == (0, [])
    assert said.startswith("would install: example.line 0.1.0")


def test_of_two_installers_at_once_one_wins(wheel: Path, empty: Path) -> None:
    command = [str(HARNESS), "--home", str(empty), "plugin", "install", str(wheel), "--json"]

    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [json.loads(one.communicate()[0]) for one in both]

    assert [one.returncode for one in both] == [0, 0]
    assert sorted(one["already_installed"] for one in said) == [False, True]
    assert sites(empty) == ["example.line/0.1.0"]


def test_of_two_attestations_at_once_one_is_refused(
    wheel: Path, empty: Path, tmp_path: Path, run: Run, forge: Callable[..., Path]
) -> None:
    other = forge(wheel, tmp_path / "other", changed={"usage_guide.md": b"# Another\n"})

    both = [
        subprocess.Popen(
            [HARNESS, "--home", empty, "plugin", "install", path], stderr=subprocess.PIPE
        )
        for path in (wheel, other)
    ]
    for one in both:
        one.communicate()

    assert sorted(one.returncode for one in both) == [0, 7]
    listed = run(empty, "plugin", "list", "--json")[1]["plugins"]
    assert [one["state"] for one in listed if one["id"] == "example.line"] == ["admitted"]


@pytest.mark.parametrize("point", ["install.staged", "install.admitted"])
def test_an_interrupted_installation_leaves_nothing(
    wheel: Path, empty: Path, process: Run, run: Run, point: str
) -> None:

    killed, _ = process(empty, "plugin", "install", wheel, HARNESS_FAILPOINT=point)

    assert killed == -signal.SIGKILL
    assert sites(empty) == []
    assert all(one["id"] != "example.line" for one in listing(run, empty))
    assert run(empty, "plugin", "install", wheel)[0] == 0
    assert sites(empty) == ["example.line/0.1.0"]


def test_an_interrupted_installation_blocks_no_other_package(
    wheel: Path, empty: Path, tmp_path: Path, process: Run, run: Run, forge: Callable[..., Path]
) -> None:
    other = forge(wheel, tmp_path / "other", changed={"usage_guide.md": b"# Another\n"})
    killed, _ = process(empty, "plugin", "install", wheel, HARNESS_FAILPOINT="install.admitted")

    code, said = run(empty, "plugin", "install", other)

    assert (killed, code) == (-signal.SIGKILL, 0), said
    assert [one["state"] for one in listing(run, empty) if one["id"] == "example.line"] == [
        "admitted"
    ]
    assert run(empty, "plugin", "install", wheel)[0] == 7


def test_a_removed_version_can_be_another_package(
    home: Path, wheel: Path, tmp_path: Path, run: Run, forge: Callable[..., Path]
) -> None:
    other = forge(wheel, tmp_path / "other", changed={"usage_guide.md": b"# Another\n"})
    run(home, "plugin", "remove", "example.line", "--yes")

    assert run(home, "plugin", "install", other)[0] == 0


def test_installing_again_does_not_lift_a_revocation(
    home: Path, wheel: Path, tmp_path: Path, run: Run
) -> None:
    (tmp_path / "new.csv").write_text("a,b\n1.5,2.0\n")
    predict = ("predict", "example.line", tmp_path / "new.csv", "-o", tmp_path / "o.csv", "--json")
    assert run(home, "plugin", "revoke", "example.line")[0] == 0

    refused, again = run(home, *predict), run(home, "plugin", "install", wheel, "--json")
    run(home, "plugin", "remove", "example.line", "--yes")
    anew, still = run(home, "plugin", "install", wheel, "--json"), run(home, *predict)

    assert (refused[0], again[0], anew[0], still[0]) == (7, 7, 7, 2)
    for said in (refused[1], again[1], anew[1]):
        assert "was revoked" in said["error"]["message"]
        assert "--lift-revocation" in said["error"]["hint"]
    assert not (tmp_path / "o.csv").exists()


def test_a_person_lifts_a_revocation(home: Path, wheel: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "new.csv").write_text("a,b\n1.5,2.0\n")
    run(home, "plugin", "revoke", "example.line")

    lifted, _ = run(home, "plugin", "install", wheel, "--lift-revocation")

    out = tmp_path / "o.csv"
    assert lifted == 0
    assert run(home, "predict", "example.line", tmp_path / "new.csv", "-o", out)[0] == 0


def test_a_generated_plugin_is_not_admitted_by_its_id(home: Path, run: Run) -> None:
    run(home, "plugin", "revoke", "example.line")

    code, said = run(home, "plugin", "admit", "example.line")

    assert code == 2
    assert "plugin install WHEEL" in said
    assert [one["state"] for one in listing(run, home) if one["id"] == "example.line"] == [
        "refused"
    ]


def listing(run: Run, home: Path) -> list[Any]:
    """Return the plugins of a home."""
    found: list[Any] = run(home, "plugin", "list", "--json")[1]["plugins"]
    return found


def test_versions_lie_side_by_side(
    home: Path, wheel: Path, tmp_path: Path, run: Run, forge: Callable[..., Path]
) -> None:
    newer = forge(wheel, tmp_path / "newer", version="0.2.0")
    (tmp_path / "new.csv").write_text("a,b\n1.5,2.0\n")

    assert run(home, "plugin", "install", newer)[0] == 0

    for named in ("example.line", "example.line==0.1.0", "example.line==0.2.0"):
        code, said = run(
            home, "predict", named, tmp_path / "new.csv", "-o", tmp_path / f"{named}.csv"
        )
        assert code == 0, said


def test_a_removed_predictor_is_gone(home: Path, run: Run) -> None:
    code, _ = run(home, "plugin", "remove", "example.line", "--yes")

    assert (code, sites(home)) == (0, [])
    assert os.path.isdir(home / "plugins/generated")
