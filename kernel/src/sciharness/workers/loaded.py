"""A plugin inside its worker: registered through pluggy, its operations by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from sciharness.errors import PluginError
from sciharness.plugin import Capability, Context, Evaluator, Outcome
from sciharness.workers.descriptor import described
from sciharness.workers.wire import Message

Runner = Callable[[Any, Context], Outcome]  # Any: an instance of the request class


@frozen
class LoadedPlugin:
    """What a plugin registered; operations are found by their name."""

    plugin_id: str
    hook_api: int
    offers: Mapping[str, Capability | Evaluator]

    def describe(self) -> Message:
        """Return the descriptor's part that only the plugin knows, as JSON values."""
        return {
            "hook_api": self.hook_api,
            "operations": [described(self.plugin_id, offer) for offer in self.offers.values()],
        }


def load(plugin_id: str, entry_point: str) -> LoadedPlugin:
    """Import a plugin and ask its hooks.

    Raises:
        PluginError: it registers something else than the records of a hook.
    """
    import pluggy

    from sciharness import hooks

    module_name, _, attribute = entry_point.partition(":")
    plugin: Any = importlib.import_module(module_name)  # Any: a module or object with hooks
    for part in filter(None, attribute.split(".")):
        plugin = getattr(plugin, part)
    manager = pluggy.PluginManager(hooks.PROJECT)
    manager.add_hookspecs(hooks)
    manager.register(plugin, name=plugin_id)
    manager.check_pending()
    offers: dict[str, Capability | Evaluator] = {}
    for kind, answers in (
        (Capability, manager.hook.harness_capabilities()),
        (Evaluator, manager.hook.harness_evaluators()),
    ):
        for offer in _flat(answers):
            if not isinstance(offer, kind):
                raise PluginError(f"registered {offer!r} where a {kind.__name__} is expected")
            if offer.operation in offers:
                raise PluginError(f"registers the operation {offer.operation!r} twice")
            offers[offer.operation] = offer
    return LoadedPlugin(plugin_id, getattr(plugin, "HOOK_API", hooks.HOOK_API), offers)


def _flat(answers: Any) -> list[Any]:  # Any: whatever the plugin's hooks returned
    return [offer for answer in answers for offer in (answer if answer is not None else ())]
