"""Search engines behind one small interface."""

from __future__ import annotations

from sciharness.errors import HarnessError
from sciharness_symbolic_regression.engines.base import Engine


class EngineUnavailable(HarnessError):
    """The engine that was asked for cannot run on this machine."""

    kind = "plugin"
    exit_code = 1


def engine_named(name: str) -> Engine:
    """Return the engine of a name; for ``auto`` Operon, or PySR where only that is ready.

    Raises:
        EngineUnavailable: it cannot run here; the message says why and what to do.
    """
    from sciharness_symbolic_regression.engines.operon import Operon
    from sciharness_symbolic_regression.engines.pysr import PySR
    from sciharness_symbolic_regression.laws.engine import Laws

    engines: dict[str, Engine] = {"operon": Operon(), "pysr": PySR(), "laws": Laws()}
    wanted = ("operon", "pysr") if name == "auto" else (name,)
    reasons = {one: engines[one].unavailable() for one in wanted}
    for one, reason in reasons.items():
        if reason is None:
            return engines[one]
    raise EngineUnavailable(
        "; ".join(str(reason) for reason in reasons.values()),
        where=f"engine {name}",
        hint="Where no engine can be had, permissions: {symbolic_baseline: true} allows "
        "symbolic_regression.baseline instead.",
    )
