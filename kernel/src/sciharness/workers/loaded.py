"""A plugin inside its worker: registered through pluggy, its operations by name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from attrs import frozen

from sciharness.errors import PluginError
from sciharness.plugin import Capability, Evaluator
from sciharness.roles import Executor, Publisher, Reasoner, Reviewer
from sciharness.workers.descriptor import Offer, described
from sciharness.workers.wire import Message

_HOOKS: Mapping[str, type[Offer]] = MappingProxyType(
    {
        "harness_capabilities": Capability,
        "harness_evaluators": Evaluator,
        "harness_reasoners": Reasoner,
        "harness_executors": Executor,
        "harness_reviewers": Reviewer,
        "harness_publishers": Publisher,
    }
)


@frozen
class LoadedPlugin:
    """What a plugin registered; records are found by the name of their operation."""

    plugin_id: str
    hook_api: int
    offers: Mapping[str, Offer]

    def describe(self) -> Message:
        """Return the descriptor's part that only the plugin knows, as JSON values."""
        return {
            "hook_api": self.hook_api,
            "operations": [described(self.plugin_id, offer) for offer in self.offers.values()],
        }


def load(plugin_id: str, entry_point: str) -> LoadedPlugin:
    """Import a plugin and ask its hooks; one of another ``HOOK_API`` is not asked.

    Raises:
        PluginError: it registers something else than the records of a hook.
    """
    from sciharness import hooks

    module_name, _, attribute = entry_point.partition(":")
    plugin: Any = importlib.import_module(module_name)  # Any: a module or object with hooks
    for part in filter(None, attribute.split(".")):
        plugin = getattr(plugin, part)
    hook_api = getattr(plugin, "HOOK_API", hooks.HOOK_API)
    offers = registered(plugin, plugin_id) if hook_api == hooks.HOOK_API else {}
    return LoadedPlugin(plugin_id, hook_api, offers)


def registered(plugin: Any, plugin_id: str) -> dict[str, Offer]:  # Any: a module or object
    """Return what the hooks of a plugin register, by the names of the operations.

    Raises:
        PluginError: it registers something else than the records of a hook.
    """
    import pluggy

    from sciharness import hooks

    manager = pluggy.PluginManager(hooks.PROJECT)
    manager.add_hookspecs(hooks)
    manager.register(plugin, name=plugin_id)
    manager.check_pending()
    offers: dict[str, Offer] = {}
    for hook, kind in _HOOKS.items():
        for offer in _flat(getattr(manager.hook, hook)()):
            if not isinstance(offer, kind):
                raise PluginError(f"{hook} returned {offer!r}, a {kind.__name__} is expected")
            if offer.operation in offers:
                raise PluginError(f"registers the operation {offer.operation!r} twice")
            offers[offer.operation] = offer
    return offers


def _flat(answers: Any) -> list[Any]:  # Any: whatever the plugin's hooks returned
    return [offer for answer in answers for offer in (answer if answer is not None else ())]
