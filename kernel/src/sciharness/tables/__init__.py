"""Tables as scientists have them: read, checked, split and sealed.

Names are loaded when first used: nothing here imports numpy, pandas or
pyarrow before a table is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sciharness.tables.check import check_table
    from sciharness.tables.predictions import read_predictions
    from sciharness.tables.prepare import (
        prepare_final,
        prepare_inputs,
        prepare_labelled,
        split_labels,
    )
    from sciharness.tables.read import read_table
    from sciharness.tables.records import CheckedTable, Prepared, TableArrays

_PLACES = {
    "CheckedTable": "records",
    "Prepared": "records",
    "TableArrays": "records",
    "check_table": "check",
    "prepare_final": "prepare",
    "prepare_inputs": "prepare",
    "prepare_labelled": "prepare",
    "read_predictions": "predictions",
    "read_table": "read",
    "split_labels": "prepare",
}

__all__ = [
    "CheckedTable",
    "Prepared",
    "TableArrays",
    "check_table",
    "prepare_final",
    "prepare_inputs",
    "prepare_labelled",
    "read_predictions",
    "read_table",
    "split_labels",
]


def __getattr__(name: str) -> Any:  # Any: whatever the public name is
    if name not in _PLACES:
        raise AttributeError(f"module 'sciharness.tables' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"sciharness.tables.{_PLACES[name]}"), name)
