from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from sciharness_catalog.admission import (
    Origin,
    admission,
    admit,
    create_tables,
    decisions,
    head,
    revoke,
)
from sciharness_catalog.approvals import Approval
from sciharness_catalog.distributions import InstalledPlugin
from sciharness_catalog.errors import (
    DigestDiffersError,
    IntegrityError,
    NotAdmittedError,
    WrongVersionError,
)
from sciharness_catalog.verify import VerifiedPackage, read_verified

NOBODY: dict[str, Approval] = {}


@pytest.fixture
def package(tiny: InstalledPlugin) -> VerifiedPackage:
    return read_verified(tiny)


def approve(package: VerifiedPackage, **fields: bool) -> dict[str, Approval]:
    name = package.distribution
    return {name: Approval(name, package.version, package.digest, plugins=(ID,), **fields)}


ID = "example.tiny"


def test_nothing_is_admitted_because_it_is_installed(
    conn: sqlite3.Connection, tiny: InstalledPlugin
) -> None:
    said = admission(conn, tiny, known=NOBODY)

    assert (said.state, said.origin, said.trusted_metrics) == ("installed", "third_party", False)
    assert said.reason is not None and "harness plugin admit example.tiny" in said.reason
    assert isinstance(said.error, NotAdmittedError)


def test_a_person_admits_exactly_these_bytes(
    conn: sqlite3.Connection, tiny: InstalledPlugin, package: VerifiedPackage
) -> None:
    answered = admit(conn, package, known=NOBODY)
    said = admission(conn, tiny, known=NOBODY)
    (tiny.root / "tiny" / "work.py").write_bytes(b"changed")
    later = admission(conn, tiny, known=NOBODY)

    assert said == answered
    assert (said.state, said.digest, said.reason) == ("admitted", package.digest, None)
    assert (later.state, later.trusted_metrics) == ("refused", False)
    assert isinstance(later.error, DigestDiffersError)
    assert "tiny/work.py changed since installation" in str(later.error)


def test_trust_is_granted_apart_and_lost_with_the_bytes(
    conn: sqlite3.Connection, tiny: InstalledPlugin, package: VerifiedPackage
) -> None:
    admit(conn, package, known=NOBODY)
    plain = admission(conn, tiny, known=NOBODY)
    admit(conn, package, trust_metrics=True, trust_labels=True, known=NOBODY)
    trusted = admission(conn, tiny, known=NOBODY)
    (tiny.root / "tiny" / "work.py").write_bytes(b"changed")
    changed = admission(conn, tiny, known=NOBODY)

    assert [(one.trusted_metrics, one.trusted_labels) for one in (plain, trusted, changed)] == [
        (False, False),
        (True, True),
        (False, False),
    ]


def test_an_approval_admits_and_trusts_without_a_row(
    conn: sqlite3.Connection, tiny: InstalledPlugin, package: VerifiedPackage
) -> None:
    said = admission(conn, tiny, known=approve(package, trusted_metrics=True))

    assert (said.state, said.origin) == ("admitted", "first_party")
    assert (said.trusted_metrics, said.trusted_labels) == (True, False)
    assert head(conn).count == 0


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"digest": "0" * 64}, DigestDiffersError),
        ({"version": "0.9"}, WrongVersionError),
        ({"plugins": ("example.other",)}, NotAdmittedError),
    ],
    ids=["digest", "version", "plugin"],
)
def test_an_approval_is_for_one_digest_and_the_named_plugins(
    conn: sqlite3.Connection,
    tiny: InstalledPlugin,
    package: VerifiedPackage,
    change: dict[str, Any],  # Any: field values
    error: type[IntegrityError],
) -> None:
    (approval,) = approve(package, trusted_metrics=True).values()

    said = admission(conn, tiny, known={approval.distribution: evolve(approval, **change)})

    assert type(said.error) is error
    assert not said.trusted_metrics


def test_an_own_change_of_ours_can_be_admitted_but_is_no_longer_first_party(
    conn: sqlite3.Connection, tiny: InstalledPlugin, package: VerifiedPackage
) -> None:
    known = approve(package, trusted_metrics=True)
    (tiny.root / "tiny" / "work.py").write_bytes(b"changed")
    admit(conn, read_verified(tiny), known=known)

    said = admission(conn, tiny, known=known)

    assert (said.state, said.origin, said.trusted_metrics) == ("admitted", "third_party", False)


def test_what_was_revoked_stays_out_until_it_is_admitted_again(
    conn: sqlite3.Connection, tiny: InstalledPlugin, package: VerifiedPackage
) -> None:
    known = approve(package, trusted_metrics=True)
    revoke(conn, ID, known=known)
    revoked = admission(conn, tiny, known=known)
    admit(conn, package, known=known)
    again = admission(conn, tiny, known=known)

    assert (revoked.state, revoked.trusted_metrics) == ("refused", False)
    assert "was revoked" in str(revoked.error)
    assert (again.state, again.origin, again.trusted_metrics) == ("admitted", "first_party", True)


def test_there_is_nothing_to_revoke_before_an_admission(conn: sqlite3.Connection) -> None:
    with pytest.raises(NotAdmittedError, match="never admitted"):
        revoke(conn, "nobody", known=NOBODY)


def test_the_newest_decision_counts(
    conn: sqlite3.Connection, tiny: InstalledPlugin, package: VerifiedPackage
) -> None:
    admit(conn, package, known=NOBODY)
    admit(conn, evolve(package, version="2.0", digest="1" * 64), known=NOBODY)

    said = admission(conn, tiny, known=NOBODY)

    assert isinstance(said.error, WrongVersionError)
    assert "admitted 2.0, installed 1.0" in str(said.error)


def test_repeating_a_decision_adds_no_row(
    conn: sqlite3.Connection, package: VerifiedPackage
) -> None:
    admit(conn, package, at="monday", known=NOBODY)
    admit(conn, package, at="tuesday", known=NOBODY)
    revoke(conn, ID, known=NOBODY)
    revoke(conn, ID, known=NOBODY)

    assert [(one.action, one.at) for one in decisions(conn)] == [
        ("admit", "monday"),
        ("revoke", ""),
    ]


def test_a_plugin_that_cannot_be_verified_is_refused_with_the_file(
    conn: sqlite3.Connection, tiny: InstalledPlugin, package: VerifiedPackage
) -> None:
    admit(conn, package, trust_metrics=True, known=NOBODY)
    (tiny.root / "tiny" / "extra.py").write_bytes(b"")

    said = admission(conn, tiny, known=NOBODY)

    assert (said.state, said.digest, said.trusted_metrics) == ("refused", "", False)
    assert said.reason is not None and "tiny/extra.py" in said.reason


def test_an_id_of_ours_is_not_given_to_another_distribution(
    conn: sqlite3.Connection, tiny: InstalledPlugin, package: VerifiedPackage
) -> None:
    known = {"ours": Approval("ours", "1.0", "0" * 64, plugins=(ID,))}

    with pytest.raises(IntegrityError, match="belongs to ours, not to tiny-plugin"):
        admit(conn, package, known=known)
    assert admission(conn, tiny, known=known).state == "refused"


def test_ids_under_runtime_need_an_approval(
    conn: sqlite3.Connection, package: VerifiedPackage
) -> None:
    claimed = evolve(package, plugin_id="runtime.tiny")

    with pytest.raises(IntegrityError, match="kept for first-party"):
        admit(conn, claimed, known=NOBODY)


def test_a_generated_plugin_is_never_trusted(
    conn: sqlite3.Connection, package: VerifiedPackage
) -> None:
    with pytest.raises(IntegrityError, match="never trusted"):
        admit(conn, package, origin="generated", trust_metrics=True, known=NOBODY)


@pytest.mark.parametrize(
    ("digest", "origin", "attestation"),
    [
        ("1" * 64, "generated", "a" * 64),
        ("1" * 64, "third_party", "a" * 64),
        (None, "generated", "b" * 64),
    ],
    ids=["other bytes", "other bytes by a person", "other attestation"],
)
def test_a_generated_version_is_fixed_for_ever(
    conn: sqlite3.Connection,
    package: VerifiedPackage,
    digest: str | None,
    origin: Origin,
    attestation: str,
) -> None:
    admit(conn, package, origin="generated", attestation="a" * 64, known=NOBODY)
    revoke(conn, ID, known=NOBODY)
    admit(conn, package, origin="generated", attestation="a" * 64, known=NOBODY)
    other = evolve(package, digest=digest or package.digest)

    with pytest.raises(IntegrityError, match="other bytes or another attestation"):
        admit(conn, other, origin=origin, attestation=attestation, known=NOBODY)
    assert len(decisions(conn)) == 3


def test_a_decision_is_part_of_the_callers_transaction(
    tmp_path: Path, package: VerifiedPackage
) -> None:
    conn = sqlite3.connect(tmp_path / "harness.db", isolation_level=None)
    create_tables(conn)

    conn.execute("BEGIN IMMEDIATE")
    create_tables(conn)
    admit(conn, package, known=NOBODY)
    conn.execute("ROLLBACK")

    assert decisions(conn) == []
    conn.close()
