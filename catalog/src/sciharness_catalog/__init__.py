"""Pins, digests, approvals and verified loading."""

__version__ = "0.1.0"
