"""Progress of an action as one short line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LONGEST_TEXT = 60
_REMAINING = "remaining_seconds"


def progress_line(progress: Mapping[str, Any], elapsed: float) -> str:  # Any: JSON values
    """Return fraction, message, time left and the best so far.

    The time left is what the operation says, else what follows from the
    fraction after ``elapsed`` seconds.

    >>> progress_line({"fraction": 0.25, "message": "fit", "best": {"error": 0.123456}}, 10.0)
    ' 25% fit, about 30 s left, error 0.1235'
    """
    fraction = min(1.0, max(0.0, float(progress.get("fraction", 0.0))))
    best = dict(progress.get("best", {}))
    left = best.pop(_REMAINING, None)
    if left is None and fraction > 0.0:
        left = elapsed * (1.0 - fraction) / fraction
    parts = [f"{fraction:4.0%} {progress.get('message', '')}".rstrip()]
    if left is not None:
        parts.append(f"about {float(left):.0f} s left")
    parts += [f"{name} {_shown(value)}" for name, value in sorted(best.items())]
    return ", ".join(parts)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value)
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
