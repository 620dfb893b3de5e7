"""The budget ledger: reserve before an action, settle after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import define, field, frozen

from sciharness.contract.durations import show_duration
from sciharness.contract.records import BUDGET_KEYS
from sciharness.descriptors import Operation

MODEL_TYPE = "model"
EXPERIMENT_GROUP = "domain experiments"
REPORT_GROUP = "report and visualisation"


@frozen
class Exhausted:
    """A limit that leaves no room: its key, what is used, the limit, and what is kept back."""

    key: str
    used: float
    limit: float
    kept: float = 0.0

    def __str__(self) -> str:
        kept = f", {show_amount(self.key, self.kept)} kept for the report" if self.kept else ""
        used, limit = show_amount(self.key, self.used), show_amount(self.key, self.limit)
        return f"budget {self.key}: used {used} of {limit}{kept}"


def show_amount(key: str, amount: float | None) -> str:
    """Return an amount as a person reads it.

    >>> show_amount("wall_time", 90.0), show_amount("actions", 3.0), show_amount("actions", None)
    ('1m30s', '3', 'unlimited')
    """
    if amount is None:
        return "unlimited"
    if key == "wall_time":
        return show_duration(amount) if amount >= 10 or amount == int(amount) else f"{amount:.1f}s"
    return f"{amount:.6g}" if amount != int(amount) else str(int(amount))


def reservation(operation: Operation) -> dict[str, float]:
    """Return what one action of ``operation`` needs at the least, by budget key.

    Every action may fail, so a run whose failures are used up starts no more;
    every action is proposed by one call of the reasoner.
    """
    need = {"actions": 1.0, "failures": 1.0, "reasoner_calls": 1.0}
    if operation.group == EXPERIMENT_GROUP:
        need["experiments"] = 1.0
    if any(output.type == MODEL_TYPE for output in operation.outputs):
        need["training_runs"] = 1.0
    need.update(dict.fromkeys(operation.charges, 1.0))
    return need


@define
class Budget:
    """Limits and use of one run; keys without a limit are counted all the same.

    ``reserved`` is what the running action needs at the least.
    """

    limits: dict[str, float]
    used: dict[str, float] = field(factory=dict)
    reserved: dict[str, float] = field(factory=dict)

    def settle(self, usage: Mapping[str, float]) -> None:
        """Add what was really used."""
        for key, amount in usage.items():
            self.used[key] = self.used.get(key, 0.0) + amount

    def raise_limit(self, key: str, limit: float | None) -> None:
        """Put a limit in the place of a lower one; ``None`` lifts it."""
        if limit is None:
            self.limits.pop(key, None)
        else:
            self.limits[key] = limit

    def lacking(self, need: Mapping[str, float], running: float = 0.0) -> Exhausted | None:
        """Return the first limit that has no room for ``need``, or ``None``.

        ``running`` are seconds that are over but not settled yet.
        """
        for key, limit in self._limits():
            used = self.used.get(key, 0.0) + (running if key == "wall_time" else 0.0)
            timed = key in {"wall_time", "cpu_hours", "gpu_hours"}
            full = used >= limit if timed else used + need.get(key, 0.0) > limit
            if full:
                return Exhausted(key, used, limit)
        return None

    def remaining(self, key: str) -> float | None:
        """Return what is left of ``key``, or ``None`` where it is not limited."""
        if key not in self.limits:
            return None
        return max(0.0, self.limits[key] - self.used.get(key, 0.0))

    def to_dict(self) -> dict[str, dict[str, float | int | None]]:
        """Return use and limit of every key as in ``--json`` output."""
        return {
            key: {"used": _plain(self.used.get(key, 0.0)), "limit": _plain(self.limits.get(key))}
            for key in BUDGET_KEYS
        }

    def _limits(self) -> Iterator[tuple[str, float]]:
        return ((key, self.limits[key]) for key in BUDGET_KEYS if key in self.limits)


def _plain(amount: float | None) -> float | int | None:
    if amount is None:
        return None
    whole = float(amount).is_integer() and abs(amount) < 2**53  # beyond, JSON has no exact integers
    return int(amount) if whole else amount
