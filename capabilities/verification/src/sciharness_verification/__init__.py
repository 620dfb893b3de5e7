"""Hypotheses, verification plans, and refits on rows that the search did not use."""

__version__ = "0.1.0"
