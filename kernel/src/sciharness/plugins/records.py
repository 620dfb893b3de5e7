"""What the rest of the kernel learns about a plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from sciharness.descriptors import Operation
from sciharness_catalog.pins import Pin

if TYPE_CHECKING:
    from sciharness.workers.load_set import LoadSet


@frozen
class PluginStatus:
    """One line of ``harness plugin list``.

    ``state`` is ``admitted``, ``installed`` (nobody decided yet), ``refused``
    or ``broken`` (admitted, but it does not load); all but the first come with
    a ``reason``. ``operations`` is empty unless it is admitted and loads.
    """

    id: str
    version: str
    distribution: str
    origin: str
    state: str
    digest: str
    trusted_metrics: bool
    reason: str | None = None
    operations: tuple[Operation, ...] = field(default=(), repr=False)

    @property
    def capabilities(self) -> tuple[str, ...]:
        """The names of the operations that a contract may lease, ``plugin_id.operation``."""
        return tuple(operation.name for operation in self.operations if operation.leased)

    @property
    def roles(self) -> tuple[Operation, ...]:
        """Its reasoners, executors, reviewers and publishers."""
        return tuple(operation for operation in self.operations if not operation.leased)

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the plugin as it stands in ``--json`` output."""
        return {
            "id": self.id,
            "version": self.version,
            "distribution": self.distribution,
            "origin": self.origin,
            "state": self.state,
            "digest": self.digest,
            "trusted_metrics": self.trusted_metrics,
            "reason": self.reason,
            "capabilities": list(self.capabilities),
            "roles": [{"name": one.name, "kind": one.kind} for one in self.roles],
        }


@frozen
class Leasable:
    """A capability or a role that may be used here: what it does, its exact pin, its trust.

    ``trusted_metrics`` are the metrics it declares as trusted, if this
    installation grants that to the exact digest, else none.
    """

    operation: Operation
    pin: Pin
    origin: str
    trusted_metrics: frozenset[str]
    trusted_labels: bool
    _load: Callable[[], LoadSet] = field(repr=False, eq=False, alias="load")

    def package(self) -> LoadSet:
        """Return the verified bytes that a worker loads.

        Raises:
            IntegrityError: a library of ours beside it is not what is approved.
        """
        return self._load()
