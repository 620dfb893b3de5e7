"""Installed plugins as this installation sees them: listed, leased, admitted, never imported."""

from __future__ import annotations

from sciharness.plugins.builtin import PARTS, builtin_pins, builtin_plugins
from sciharness.plugins.facade import Plugins
from sciharness.plugins.pinned import naming_pin
from sciharness.plugins.records import Leasable, PluginStatus

__all__ = [
    "PARTS",
    "Leasable",
    "PluginStatus",
    "Plugins",
    "builtin_pins",
    "builtin_plugins",
    "naming_pin",
]
