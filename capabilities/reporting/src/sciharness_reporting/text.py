"""Text and numbers for readers: foreign text made harmless, numbers made short."""

from __future__ import annotations

import math
import re

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MINUS = "\u2212"
DASH = "\u2013"  # stands where there is no value


def clean(value: object, longest: int = 20_000) -> str:
    """Return a text without control, direction-changing or unencodable characters.

    Anything but text and numbers gives an empty text.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = _CONTROLS.sub("\ufffd", str(value).replace("\r\n", "\n"))
    return text if len(text) <= longest else text[: longest - 1] + "\u2026"


def label(value: object, longest: int = 60) -> str:
    """Return a short text on one line, for column names and the like."""
    return clean(" ".join(clean(value).split()), longest)


def real(value: object) -> float | None:
    """Return a finite number, or ``None`` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def number(value: object, digits: int = 4) -> str:
    """Return a number as people write it, or a dash where there is none.

    >>> number(0.012345), number(1234567), number(-3.2e-7)
    ('0.01235', '1,234,567', '\u22123.2\u00d710\u207b\u2077')
    """
    known = real(value)
    if known is None:
        return DASH
    if known.is_integer() and abs(known) < 1e15:
        return f"{known:,.0f}".replace("-", MINUS)
    mantissa, exponent = split(known, digits)
    if -4 <= exponent < 6:
        places = max(0, digits - 1 - exponent)
        plain = f"{known:,.{places}f}"
        plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
        return plain.replace("-", MINUS)
    return f"{mantissa}\u00d7{power_of_ten(exponent)}"


def split(value: float, digits: int) -> tuple[str, int]:
    """Return the rounded mantissa as text and the decimal exponent."""
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return mantissa.replace("-", MINUS), int(exponent)


def power_of_ten(exponent: int) -> str:
    """Return ten to a power, the power raised."""
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def count(amount: int, noun: str) -> str:
    """Return an amount with its noun in the right number.

    >>> count(1, "row"), count(1200, "row"), count(2, "query")
    ('1 row', '1,200 rows', '2 queries')
    """
    if amount == 1:
        return f"1 {noun}"
    ending = {"ry": "ries", "ch": "ches", "ss": "sses"}.get(noun[-2:], f"{noun[-2:]}s")
    return f"{amount:,} {noun[:-2]}{ending}"


def duration(seconds: float) -> str:
    """Return a time span in the largest two units that matter.

    >>> duration(0.031), duration(12.34), duration(754)
    ('0.03 s', '12.3 s', '12 min 34 s')
    """
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def short(digest: object) -> str:
    """Return the first twelve characters of a digest."""
    return label(digest)[:12]
