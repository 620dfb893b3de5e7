"""Directory bundles: a folder as one immutable archive, and back as a folder."""

from __future__ import annotations

from sciharness.bundles.limits import FolderLimits, RuleError
from sciharness.bundles.pack import Packed, pack_folder
from sciharness.bundles.survey import Survey, survey
from sciharness.bundles.unpack import unpack

__all__ = ["FolderLimits", "Packed", "RuleError", "Survey", "pack_folder", "survey", "unpack"]
