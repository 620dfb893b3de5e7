"""Plain values: whole numbers, small fractions, multiples of pi and of roots, short decimals.

Each has a price, twice the logarithm of how many values there are that are at
least as plain: what it costs to say which of them is meant.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator
from functools import cache

from sciharness_symbolic_regression.formulas.forms import Fixed

TALLEST = 100  # numerator times denominator times the weight of what is multiplied
SPECIAL = (  # text above or below the fraction bar, value, weight
    ("pi", math.pi, 3),
    ("sqrt(2)", math.sqrt(2), 6),
    ("sqrt(3)", math.sqrt(3), 8),
    ("pi**2", math.pi**2, 5),
    ("sqrt(pi)", math.sqrt(math.pi), 8),
    ("sqrt(2*pi)", math.sqrt(2 * math.pi), 6),
    ("log(2)", math.log(2), 10),
)
BELOW_TOO = frozenset({"pi", "pi**2", "sqrt(pi)", "sqrt(2*pi)"})  # others equal one of the list
USUAL, SHORT = 12, 5  # 3/4 is as plain as 0.75, 11/5 is not as plain as 2.2
MOST_DIGITS = 12
DECIMAL = 4  # a decimal is a choice among that many kinds of numbers


def near(low: float, high: float) -> Iterator[Fixed]:
    """Yield the plain values in an interval of numbers of one sign, signs as there."""
    sign = 1.0 if low > 0 else -1.0
    least, most = sorted((abs(low), abs(high)))
    sizes, listed = _table()
    start, end = bisect.bisect_left(sizes, least), bisect.bisect_right(sizes, most)
    found = listed[start:end]
    yield from (_signed(one, sign) for one in found)
    decimal = _shortest(least, most)
    if decimal is not None and decimal not in found:
        yield _signed(decimal, sign)


@cache
def _table() -> tuple[tuple[float, ...], tuple[Fixed, ...]]:
    """Return the values that are no decimals in order of size, and the same with price and text."""
    heights = sorted((height, text, value) for text, value, height in _listed())
    counts = bisect.bisect_right
    tall = [height for height, _, _ in heights]
    found = [
        Fixed(value, text, 2 * math.log(counts(tall, height))) for height, text, value in heights
    ]
    ordered = tuple(sorted(found))
    return tuple(map(float, ordered)), ordered


def _listed() -> Iterator[tuple[str, float, int]]:
    for above in range(1, TALLEST + 1):
        for below in range(1, TALLEST // above + 1):
            if math.gcd(above, below) == 1:
                yield _ratio(above, below), above / below, above * below
                yield from _multiples(above, below)


def _ratio(above: int, below: int) -> str:
    """Return a fraction, as a decimal where that is short and the fraction is not a usual one."""
    decimal = _decimal_text(above / below)
    usual = above * below <= USUAL or len(decimal) > SHORT
    return _fraction([str(above)], [str(below)]) if usual else decimal


def _multiples(above: int, below: int) -> Iterator[tuple[str, float, int]]:
    for text, value, weight in SPECIAL:
        height = above * below * weight
        if height > TALLEST:
            continue
        yield _fraction([str(above), text], [str(below)]), above * value / below, height
        if text in BELOW_TOO:
            yield _fraction([str(above)], [str(below), text]), above / (below * value), height


def _fraction(above: list[str], below: list[str]) -> str:
    top = "*".join(part for part in above if part != "1") or "1"
    parts = [part for part in below if part != "1"]
    bottom = "*".join(parts)
    if not parts:
        return top
    return f"{top}/({bottom})" if len(parts) > 1 else f"{top}/{bottom}"


def _shortest(least: float, most: float) -> Fixed | None:
    """Return the decimal with the fewest digits in an interval, the one nearest to its middle."""
    middle = (least + most) / 2
    for digits in range(1, MOST_DIGITS + 1):
        value = float(f"{middle:.{digits - 1}e}")
        if least <= value <= most:
            power = math.floor(math.log10(value))
            count = DECIMAL * 9 * 10 ** (digits - 1) * (1 + 2 * abs(power))
            return Fixed(value, _decimal_text(value), 2 * math.log(count))
    return None


def _decimal_text(value: float) -> str:
    return repr(value).removesuffix(".0")


def _signed(one: Fixed, sign: float) -> Fixed:
    return one if sign > 0 else Fixed(-float(one), f"-{one.text}", one.price)
