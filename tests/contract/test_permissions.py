"""Capabilities that only a switch of the contract allows: preflight and gate."""

from __future__ import annotations

import pytest

from sciharness.contract.records import Permissions
from sciharness.errors import PluginError
from sciharness.plugin import PERMISSIONS
from sciharness.runtime.gate import check_permission
from sciharness.workers.descriptor import described, descriptor_from_plain


def test_the_switches_that_a_plugin_may_name_are_those_of_a_contract() -> None:
    import attrs

    assert tuple(field.name for field in attrs.fields(Permissions)) == PERMISSIONS


@pytest.mark.parametrize("permission", ["", *PERMISSIONS])
def test_the_gate_refuses_while_the_switch_is_off(permission: str) -> None:
    import attrs

    off = attrs.make_class("Off", ["permissions"])(Permissions())
    on = attrs.make_class("On", ["permissions"])(Permissions(True, True, True))

    refusal = check_permission(off, permission)
    assert (refusal is None) == (permission == "")
    if refusal is not None:
        assert refusal.reason == "permission"
        assert permission in refusal.message
    assert check_permission(on, permission) is None


def test_a_permission_that_no_contract_has_is_refused() -> None:
    from attrs import frozen

    from sciharness.plugin import Capability

    @frozen
    class Nothing:
        """No settings."""

    def plain(permission: str) -> dict[str, object]:
        capability = Capability(
            "look", lambda request, context: None, Nothing, "Look.", "analysis",
            permission=permission,
        )  # fmt: skip
        return {
            "plugin_id": "toy",
            "version": "1",
            "distribution": "toy",
            "digest": "0" * 64,
            "hook_api": 1,
            "operations": [described("toy", capability)],
        }

    import json

    def read(permission: str) -> object:
        return descriptor_from_plain(json.loads(json.dumps(plain(permission))))

    (operation,) = read("symbolic_baseline").operations  # type: ignore[attr-defined]
    assert operation.permission == "symbolic_baseline"
    with pytest.raises(PluginError, match="unknown permission 'root'"):
        read("root")
