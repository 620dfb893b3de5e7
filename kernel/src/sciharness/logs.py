"""Structured logging: short fixed words with fields, silent unless a program configures it."""

from __future__ import annotations

import logging
import sys
from typing import Any, TextIO

import structlog

ROOT = "sciharness"


def get_logger(name: str) -> Any:  # Any: structlog's bound loggers carry no common type
    """Return a logger below ``sciharness`` that renders ``word key=value`` lines.

    It hands them to the standard library's logging, so that a library user
    decides where they go.
    """
    return structlog.wrap_logger(
        logging.getLogger(f"{ROOT}.{name}"),
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["event"], drop_missing=True),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def show_logs(stream: TextIO = sys.stderr, level: int = logging.INFO) -> None:
    """Send log lines of this program to ``stream``; for command lines only."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    root = logging.getLogger(ROOT)
    root.handlers = [handler]
    root.setLevel(level)
    root.propagate = False
