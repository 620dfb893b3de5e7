"""Export bundles: a run in one folder or ZIP, verifiable anywhere."""

from sciharness.export.build import build_export
from sciharness.export.verify import ExportReport, verify_export

__all__ = ["ExportReport", "build_export", "verify_export"]
