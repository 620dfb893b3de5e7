"""Evaluators for sciharness: how far predictions are from the true values, exactly defined."""

__version__ = "0.1.0"
