"""Imported when first needed."""

ANSWER = 42.0
