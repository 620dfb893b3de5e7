"""Predictor writer and package builder."""

__version__ = "0.1.0"
