"""context.data: a directory of NPY arrays whose manifest says what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sciharness.contextdata._faults import ContextManifestError
    from sciharness.contextdata.csv_files import from_csv, to_csv
    from sciharness.contextdata.descriptions import describe
    from sciharness.contextdata.guidance import guide
    from sciharness.contextdata.load import load_context_data
    from sciharness.contextdata.npz_files import from_npz, to_npz
    from sciharness.contextdata.parquet_files import from_parquet, to_parquet
    from sciharness.contextdata.report import inspect_context_data

# Names are loaded when first used: the guide needs no numpy, a check no converter.
_PLACES = {
    "ContextManifestError": "_faults",
    "describe": "descriptions",
    "from_csv": "csv_files",
    "from_npz": "npz_files",
    "from_parquet": "parquet_files",
    "guide": "guidance",
    "inspect_context_data": "report",
    "load_context_data": "load",
    "to_csv": "csv_files",
    "to_npz": "npz_files",
    "to_parquet": "parquet_files",
}

__all__ = [
    "ContextManifestError",
    "describe",
    "from_csv",
    "from_npz",
    "from_parquet",
    "guide",
    "inspect_context_data",
    "load_context_data",
    "to_csv",
    "to_npz",
    "to_parquet",
]


def __getattr__(name: str) -> Any:  # Any: whatever the public name is
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
