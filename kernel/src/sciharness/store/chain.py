"""The hash chain of one run: how an event becomes bytes and how its hash follows.

``hash = SHA-256("evt-v1" | run_id | seq | hash before | record)`` where each
part is preceded by its length as 8 bytes, big-endian, and ``seq`` itself is 8
bytes. ``record`` is the canonical JSON of kind, time, body and, if the event
changed it, the projection. The hash before the first event is 32 zero bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from struct import Struct
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from sciharness_catalog.canonical import canonical_json

if TYPE_CHECKING:
    from hashlib import _Hash

GENESIS = bytes(32)
MAX_RECORD = 16 * 1024 * 1024

_LENGTH = Struct(">Q")
_MIDDLE = Struct(">QQQ32sQ")

Body = Mapping[str, Any]  # Any: JSON values
Row = tuple[int, bytes, bytes]


@frozen
class Event:
    """One stored event; ``seq`` counts from 1, ``time`` is UTC text, ``hash`` is hex.

    ``projection`` holds the fields of the run row that this event changed.
    """

    run_id: str
    seq: int
    kind: str
    time: str
    body: Body
    hash: str
    projection: Mapping[str, str] = field(factory=dict)


@frozen
class Head:
    """The end of a chain: number of events and hash of the last one, in hex."""

    count: int
    hash: str


class ChainError(Exception):
    """A chain that does not hold; ``seq`` is the first bad event."""

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(f"event {seq} {reason}")
        self.seq = seq
        self.reason = reason


def encode_record(
    kind: str, time: str, body: Body, projection: Mapping[str, str] | None = None
) -> bytes:
    """Return the bytes that are stored and hashed.

    Raises:
        ValueError: the body is not JSON with finite numbers, or is longer than 16 MiB.
    """
    value: dict[str, Any] = {"kind": kind, "time": time, "body": dict(body)}  # Any: JSON values
    if projection:
        value["projection"] = dict(projection)
    record = canonical_json(value)
    if len(record) > MAX_RECORD:
        raise ValueError(f"an event holds at most {MAX_RECORD} bytes, {kind} has {len(record)}")
    return record


def decode_event(run_id: str, seq: int, record: bytes, hash: bytes) -> Event:
    """Return the event that ``record`` holds."""
    value = json.loads(record)
    return Event(
        run_id=run_id,
        seq=seq,
        kind=value["kind"],
        time=value["time"],
        body=value["body"],
        hash=hash.hex(),
        projection=value.get("projection", {}),
    )


def hash_event(run_id: str, seq: int, before: bytes, record: bytes) -> bytes:
    """Return the hash of one event of a run, given the hash before it."""
    link = _start_of(run_id)
    link.update(_MIDDLE.pack(8, seq, 32, before, len(record)) + record)
    return link.digest()


def _start_of(run_id: str) -> _Hash:
    label, name = b"evt-v1", run_id.encode()
    return sha256(_LENGTH.pack(len(label)) + label + _LENGTH.pack(len(name)) + name)


def line_of(row: Row) -> bytes:
    """Return an event as one line of JSON from which :func:`row_of` gets the exact bytes back."""
    seq, record, hash = row
    return b'{"event":%b,"hash":"%b","seq":%d}\n' % (record, hash.hex().encode(), seq)


def row_of(line: bytes) -> Row:
    """Return the row that a line holds.

    Raises:
        ValueError: the line is not exactly as :func:`line_of` writes it.
    """
    record, mark, tail = line.removeprefix(b'{"event":').rpartition(b',"hash":"')
    digest, _, rest = tail.partition(b'","seq":')
    number = rest.removesuffix(b"}\n")
    if not (mark and len(digest) == 64 and number.isdigit() and len(number) < 16):
        raise ValueError("is no event")
    row = (int(number), record, bytes.fromhex(digest.decode("ascii")))
    if line_of(row) != line:
        raise ValueError("is not written as an event is")
    return row


def verify_rows(run_id: str, rows: Iterable[Row]) -> tuple[int, bytes]:
    """Return count and last hash of ``(seq, record, hash)`` rows, in order from event 1.

    Only stored bytes are looked at; nothing is parsed.

    Raises:
        ChainError: an event is missing, out of place, or its hash does not follow.
    """
    # As hash_event, but written for speed: what all events start with is hashed once.
    start, middle = _start_of(run_id).copy, _MIDDLE.pack
    count, head = 0, GENESIS
    for seq, record, stored in rows:
        count += 1
        if seq != count:
            raise ChainError(count, f"is missing: event {seq} stands in its place")
        link = start()
        link.update(middle(8, seq, 32, head, len(record)) + record)
        head = link.digest()
        if head != stored:
            raise ChainError(seq, "was changed, or the one before it was")
    return count, head
