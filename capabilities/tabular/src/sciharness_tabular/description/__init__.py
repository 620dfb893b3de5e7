"""Describing: columns, pairs of columns, and the operation itself."""
