"""Symbolic regression: formulas with range and credibility."""

__version__ = "0.1.0"
