"""What a plugin offers under a name, and what else to do where it offers something else."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sciharness.descriptors import Descriptor, Operation
from sciharness.requests.check import nearest
from sciharness_catalog.errors import NotInstalledError

_USED: Mapping[str, str] = MappingProxyType(
    {
        "capability": "A contract leases it under `capabilities`.",
        "evaluator": "A contract leases it under `capabilities`.",
        "reasoner": "A contract chooses it by `reasoner: {use: NAME}`.",
        "executor": "A contract chooses it by `executor: {use: NAME}`.",
        "publisher": "A contract chooses it by what it delivers, under `deliver`.",
        "reviewer": "It is asked about every package; no contract names it.",
    }
)


def operation_of(descriptor: Descriptor, wanted: str, kinds: tuple[str, ...]) -> Operation:
    """Return the operation of that name, if it is of one of the ``kinds``.

    Raises:
        NotInstalledError: there is none, or it is of another kind.
    """
    where = f"{descriptor.plugin_id} {descriptor.version}"
    offered = {one.operation: one for one in descriptor.operations}
    found = offered.get(wanted)
    if found is None:
        hint = nearest(wanted, [name for name, one in offered.items() if one.kind in kinds])
        raise NotInstalledError(f"offers no operation {wanted!r}", where=where, hint=hint)
    if found.kind not in kinds:
        raise NotInstalledError(
            f"{wanted!r} is {_article(found.kind)}, not {_article(kinds[0])}",
            where=where,
            hint=_USED[found.kind],
        )
    return found


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
