"""Durations as contracts write them: ``90s``, ``10m``, ``1h30m``."""

from __future__ import annotations

import re

PATTERN = r"(?=[0-9])(?=.*[1-9])(?:[0-9]{1,6}h)?(?:[0-9]{1,6}m)?(?:[0-9]{1,6}s)?"

_PARTS = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", re.ASCII)


def parse_duration(text: str) -> float:
    """Return the seconds of a duration; a bare number is none.

    Raises:
        ValueError: the text is no duration above zero.

    >>> parse_duration("1h30m")
    5400.0
    """
    match = _PARTS.fullmatch(text) if re.fullmatch(PATTERN, text) else None
    if match is None:
        raise ValueError(f"no duration such as 90s, 10m or 1h30m: {text!r}")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(hours * 3600 + minutes * 60 + seconds)


def show_duration(seconds: float) -> str:
    """Return a duration as contracts write it, whole seconds.

    >>> show_duration(5400)
    '1h30m'
    """
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [
        f"{hours}h" if hours else "",
        f"{minutes}m" if minutes else "",
        f"{left}s" if left else "",
    ]
    return "".join(parts) or "0s"
