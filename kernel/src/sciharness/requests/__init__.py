"""Requests: an attrs class as JSON Schema, checked by schema alone, built in the worker."""

from __future__ import annotations

from sciharness.requests.build import build_request
from sciharness.requests.check import apply_defaults, check_request, split_common
from sciharness.requests.schema import COMMON, request_schema

__all__ = [
    "COMMON",
    "apply_defaults",
    "build_request",
    "check_request",
    "request_schema",
    "split_common",
]
