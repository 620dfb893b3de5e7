"""Verdicts: what one check of a plugin has found."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

Result = Literal["ok", "failed", "skipped"]


@frozen
class Verdict:
    """One check: of the whole plugin (``operation`` empty) or of one of its operations."""

    check: str
    result: Result
    said: str = ""
    operation: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing stands against the plugin; what was skipped does not."""
        return self.result != "failed"

    def to_dict(self) -> dict[str, str]:
        """Return the verdict as ``plugin check --json`` prints it."""
        return {
            "operation": self.operation,
            "check": self.check,
            "result": self.result,
            "said": self.said,
        }

    def __str__(self) -> str:
        mark = {"ok": "ok     ", "failed": "FAILED ", "skipped": "skipped"}[self.result]
        place = f"{self.operation}: " if self.operation else ""
        return f"{mark} {place}{self.check}" + (f": {self.said}" if self.said else "")


def passed(check: str, said: str = "", operation: str = "") -> Verdict:
    """Return the verdict of a check that found nothing."""
    return Verdict(check, "ok", said, operation)


def failed(check: str, said: str, operation: str = "") -> Verdict:
    """Return the verdict of a check that found something."""
    return Verdict(check, "failed", said, operation)


def skipped(check: str, said: str, operation: str = "") -> Verdict:
    """Return the verdict of a check that could not be made, with the reason."""
    return Verdict(check, "skipped", said, operation)


def judged(check: str, faults: list[str], operation: str = "", said: str = "") -> Verdict:
    """Return one verdict for everything that a check found."""
    return failed(check, "; ".join(faults), operation) if faults else passed(check, said, operation)
