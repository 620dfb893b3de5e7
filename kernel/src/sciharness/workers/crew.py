"""The workers of a pool: which work, which stand by, and what each was started for."""

from __future__ import annotations

import threading

from attrs import define, field

from sciharness.workers.slots import Slot
from sciharness.workers.worker import Worker

Key = tuple[object, ...]


@define(eq=False)
class Member:
    """A worker in its slot; one may take a job of the same ``key``."""

    slot: Slot
    worker: Worker
    key: Key

    def end(self) -> None:
        """End the worker and remove its folders."""
        self.worker.close()
        self.slot.remove()


@define
class Crew:
    """Members at work and members that stand by. Safe to use from several threads."""

    _idle: dict[Key, list[Member]] = field(factory=dict)
    _busy: list[Member] = field(factory=list)
    _lock: threading.Lock = field(factory=threading.Lock)

    def called(self, key: Key) -> Member | None:
        """Put a member of ``key`` that stands by to work and return it, if there is one."""
        with self._lock:
            idle = self._idle.get(key)
            if not idle:
                return None
            self._busy.append(idle.pop())
            return self._busy[-1]

    def join(self, member: Member) -> None:
        """Count a new member as one at work."""
        with self._lock:
            self._busy.append(member)

    def stand_by(self, member: Member) -> None:
        """Keep a member whose job is done for the next one."""
        with self._lock:
            self._busy.remove(member)
            self._idle.setdefault(member.key, []).append(member)

    def leave(self, member: Member) -> None:
        """Forget a member, unless that has been done already."""
        with self._lock:
            if member in self._busy:
                self._busy.remove(member)

    def dismissed(self) -> list[Member]:
        """Forget all members and return them."""
        with self._lock:
            every = [*self._busy, *(one for idle in self._idle.values() for one in idle)]
            self._idle, self._busy = {}, []
        return every
