"""Structured logging: short fixed words with fields, silent unless a program configures it."""

from __future__ import annotations

import logging
import sys
from typing import Any, TextIO

from attrs import frozen

ROOT = "sciharness"


@frozen
class Logger:
    """A logger that renders ``word key=value`` lines and hands them to the standard library's.

    A library user so decides where they go. structlog, which takes a tenth of
    a second to import, is loaded when somebody listens.
    """

    name: str

    def info(self, event: str, **fields: object) -> None:
        """Log one event."""
        if logging.getLogger(self.name).isEnabledFor(logging.INFO):
            _structured(self.name).info(event, **fields)


def get_logger(name: str) -> Logger:
    """Return a logger below ``sciharness``."""
    return Logger(f"{ROOT}.{name}")


def _structured(name: str) -> Any:  # Any: structlog's bound loggers carry no common type
    import structlog

    return structlog.wrap_logger(
        logging.getLogger(name),
        processors=[
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["event"], drop_missing=True),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    )


def show_logs(stream: TextIO = sys.stderr, level: int = logging.INFO) -> None:
    """Send log lines of this program to ``stream``; for command lines only."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    root = logging.getLogger(ROOT)
    root.handlers = [handler]
    root.setLevel(level)
    root.propagate = False
