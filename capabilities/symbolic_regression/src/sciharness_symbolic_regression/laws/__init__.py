"""Deterministic search for laws: a large table of terms, and sparse sums of them."""
