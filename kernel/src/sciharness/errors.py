"""Errors that callers may want to catch; all derive from :class:`HarnessError`."""

from __future__ import annotations

from sciharness_catalog.errors import (
    BudgetError,
    ContractError,
    DataError,
    DeliveryError,
    HarnessError,
    IntegrityError,
    PluginError,
    RequestError,
    UsageError,
    WaitingError,
)

__all__ = [
    "BudgetError",
    "ContractError",
    "DataError",
    "DeliveryError",
    "HarnessError",
    "IntegrityError",
    "PluginError",
    "RequestError",
    "UsageError",
    "WaitingError",
]
