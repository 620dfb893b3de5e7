"""Search engines behind one small interface."""

from __future__ import annotations

from sciharness.errors import HarnessError
from sciharness_symbolic_regression.engines.base import Engine


class EngineUnavailable(HarnessError):
    """The engine that was asked for cannot run on this machine."""

    kind = "plugin"
    exit_code = 1


def engine_named(name: str) -> Engine:
    """Return the engine of a name, or the best ready one for ``auto``.

    Raises:
        EngineUnavailable: it cannot run here; the message says why and what to do.
    """
    from sciharness_symbolic_regression.engines.operon import Operon

    engines: dict[str, Engine] = {"operon": Operon()}
    engine = engines["operon" if name == "auto" else name]
    reason = engine.unavailable()
    if reason:
        raise EngineUnavailable(reason, where=f"engine {engine.name}")
    return engine
