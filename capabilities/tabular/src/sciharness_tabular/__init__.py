"""Everyday tables for sciharness: describe them, train ordinary predictors on them."""

__version__ = "0.1.0"
