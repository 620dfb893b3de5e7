"""Directory bundles: a folder as one immutable archive, and back as a folder."""

from __future__ import annotations

from sciharness.bundles.pack import Packed, pack_folder
from sciharness.bundles.unpack import unpack

__all__ = ["Packed", "pack_folder", "unpack"]
