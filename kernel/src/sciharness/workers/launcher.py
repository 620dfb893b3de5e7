"""Launching workers: each confined, none able to read what is hidden."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path

from attrs import define, evolve, field

from sciharness.errors import ContractError
from sciharness.workers.child import Grants, Limits, child_environment, run_child
from sciharness.workers.confinement import NONE, ConfinementError, probe
from sciharness.workers.load_set import LoadSet
from sciharness.workers.slots import Slot
from sciharness.workers.starter import Starter
from sciharness.workers.worker import Worker


@define
class Launcher:
    """Starts workers from any thread; a worker's parent is a thread that stays."""

    hidden: tuple[Path, ...]
    limits: Limits
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _starter: Starter | None = field(default=None, init=False)

    def start(
        self,
        package: LoadSet,
        slot: Slot,
        grants: Grants,
        threads: int,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Worker:
        """Return a started worker that has loaded the package.

        Raises:
            ActionFailed: it does not start or does not load the package.
            ContractError: a hidden folder would have been readable.
        """
        roots = tuple(dict.fromkeys(one.root for one in (package.package, *package.libraries)))
        grants = evolve(grants, read=(*grants.read, *roots))

        def start() -> Worker:
            return Worker.started(
                package,
                cwd=slot.work,
                env=child_environment(slot.work, threads),
                limits=self.limits,
                grants=grants,
                cancelled=cancelled,
            )

        try:
            if threading.current_thread() is threading.main_thread():
                return start()
            return self._permanent().call(start)
        except ConfinementError as error:
            raise _exposed(error) from error

    def check_isolation(self, root: Path) -> None:
        """Confirm that a worker below ``root`` cannot read the hidden folders.

        Raises:
            ContractError: one lies beneath a granted folder.
        """
        if probe() == NONE:
            return
        slot = Slot.made(root)
        try:
            run_child(
                [sys.executable, "-S", "-c", ""],
                cwd=slot.work,
                grants=Grants(write=(slot.work,), hidden=self.hidden),
            )
        except ConfinementError as error:
            raise _exposed(error) from error
        finally:
            slot.remove()

    def close(self) -> None:
        """End the thread that has started workers for others."""
        with self._lock:
            starter, self._starter = self._starter, None
        if starter is not None:
            starter.stop()

    def _permanent(self) -> Starter:
        with self._lock:
            if self._starter is None:
                self._starter = Starter()
            return self._starter


def _exposed(error: ConfinementError) -> ContractError:
    return ContractError(
        str(error),
        where="isolation",
        hint="Keep the home and the contract outside of the interpreter's folders, "
        "of folder inputs and of HARNESS_READ_PATHS.",
    )
