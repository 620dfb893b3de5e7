"""Nothing that is stored or exported names a place, a person or a machine."""

from __future__ import annotations

import re
import socket
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sciharness.runtime.redact import redact

PERSON = "zaphodbeeblebrox"

# Absolute paths of this kind of machine; a plain `/` also stands in units and dates.
PLACES = re.compile(rb"(?:/tmp/|/home/|/root/|/usr/|/var/|/work/|/proc/|/etc/|/opt/)[\w.-]+")


@pytest.fixture(scope="module")
def told(fresh: Callable[..., Any]) -> Any:
    """A run whose plugins tell all they know, in a home below a person's name."""
    made = fresh(PERSON)
    made.table()
    made.contract(
        capabilities=["toy.fit", "toy.lie", "toy.note", "evaluation.regression", "reporting.write"],
        steps=[
            {"id": "leak", "use": "toy.lie", "with": {"how": "leak"}},
            {"id": "crash", "use": "toy.lie", "with": {"how": "crash"}},
            {"id": "slow", "use": "toy.note", "with": {"pause": 1.2}},
            {
                "id": "fit",
                "use": "toy.fit",
                "inputs": {"data": "data"},
                "with": {"spoil": "crash"},
            },
            {
                "id": "judge",
                "use": "evaluation.regression",
                "inputs": {"predictor": "fit", "data": "data"},
            },
        ],
    )
    names = {"LOGNAME": PERSON, "USER": PERSON, "USERNAME": PERSON}
    return made, made("run", "c.yaml", "--json", "--export", "out.zip", **names)


def kept(made: Any) -> dict[str, bytes]:
    """Return everything that the run has left in the home and in the export."""
    found = {"events": made("events", "1", "--json", code=0).out.encode()}
    for path in sorted(made.home.rglob("*")):
        if path.is_file() and path.name != "reserve":
            found[path.relative_to(made.home).as_posix()] = path.read_bytes()
    with zipfile.ZipFile(made.folder / "out.zip") as archive:
        found |= {f"zip {name}": archive.read(name) for name in archive.namelist()}
    return found


def test_the_plugins_had_something_to_tell(told: Any) -> None:
    made, ended = told
    failed = [event["body"] for event in made.events() if event["kind"] == "ActionFailed"]

    assert ended.code == 1
    assert [body["action"]["step"] for body in failed] == ["leak", "crash", "judge"]
    assert "FileNotFoundError" in failed[0]["detail"] and "secret.txt" in failed[0]["detail"]
    assert "the predictor gave up" in failed[2]["detail"]
    assert "ActionProgress" in made.kinds()


def test_no_place_person_or_machine_is_named(told: Any) -> None:
    made, _ = told
    words = [PERSON.encode(), str(made.home).encode(), sys.prefix.encode()]
    host = socket.gethostname()
    words += [host.encode()] if len(host) > 5 and host != "localhost" else []

    contents = kept(made)

    assert len(contents) > 20
    assert [
        (place, word) for place, text in contents.items() for word in words if word in text
    ] == []
    assert {
        place: PLACES.findall(text)[:3] for place, text in contents.items() if PLACES.search(text)
    } == {}


def test_the_search_would_have_found_them(told: Any) -> None:
    made, ended = told

    assert PLACES.search(str(made.home).encode())
    assert PERSON in ended.json["export"]


def test_answers_for_this_machine_do_name_places(told: Any) -> None:
    _, ended = told

    assert all(Path(item["path"]).is_file() for item in ended.json["artifacts"])
    assert Path(ended.json["export"]).is_dir()


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("no file '/srv/a b/c d.csv'", "no file '<path>/c d.csv'"),
        ('File "/srv/a b/x.py", line 3', 'File "<path>/x.py", line 3'),
        ("file:///srv/data/x.csv", "file:<path>/x.csv"),
        (r"C:\Users\somebody\x.txt is locked", "<path>/x.txt is locked"),
        (r"//server/share/x", "<path>/x"),
        ("['/a/b c/d', '/e/f']", "['<path>/d', '<path>/f']"),
        ("PATH=/usr/bin:/srv/bin", "PATH=<path>/bin:<path>/bin"),
        ("it's in /srv/a/x and that's all", "it's in <path>/x and that's all"),
        ("see https://example.org/a/b or kg/m/s^2", "see https://example.org/a/b or kg/m/s^2"),
    ],
)
def test_a_text_keeps_the_last_part_of_a_path(said: str, kept: str) -> None:
    assert redact(said) == kept


def test_a_hostile_text_is_redacted_in_no_time() -> None:
    text = "'" + "/" * 50_000 + "a" + "'/" * 50_000 + "/a" * 50_000

    assert len(redact(text)) <= len(text) + 7 * 50_000
