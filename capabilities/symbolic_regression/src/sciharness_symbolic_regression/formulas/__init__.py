"""Formulas: canonical forms, their values, how they are written."""
