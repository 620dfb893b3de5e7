"""Unit texts as dimensions: `m/s`, `kg m-3`, `W m^-2 K^-1`, `J/(mol K)`, `%`, `1e-6/K`.

The text is read by a small grammar of products and powers; only the names in
it are looked up in pint's tables. Nothing is evaluated, whatever a header says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from attrs import field, frozen

MAX_CHARACTERS = 80
LARGEST_POWER = 12
PLAIN = frozenset({"", "-", "1", "%", "‰", "ph", "none", "dimensionless", "unitless"})
ALIASES: Mapping[str, str] = {
    "°C": "kelvin", "degC": "kelvin", "℃": "kelvin", "°F": "kelvin", "degF": "kelvin",
    "°": "radian", "deg": "radian", "\u03a9": "ohm", "\u2126": "ohm", "Å": "angstrom",
    "%": "radian",
}  # fmt: skip
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d_]+(?:_[^\W\d]+)*|[°℃\u03a9\u2126%][CF]?)(?P<power>-?\d{1,2})?"
    r"|(?P<mark>\*\*|[-*/^()·\u00d7.]))"
)


class UnitError(ValueError):
    """A unit text cannot be read."""


@frozen
class Dimension:
    """Powers of base quantities by name, none of them zero; empty for a plain number."""

    powers: tuple[tuple[str, Fraction], ...] = field(default=())

    @classmethod
    def of(cls, powers: Mapping[str, Fraction]) -> Dimension:
        """Return the dimension with these powers."""
        return cls(tuple(sorted((name, power) for name, power in powers.items() if power)))

    def __mul__(self, other: Dimension) -> Dimension:
        """Return the dimension of a product."""
        powers = dict(self.powers)
        for name, power in other.powers:
            powers[name] = powers.get(name, Fraction(0)) + power
        return Dimension.of(powers)

    def __pow__(self, exponent: Fraction) -> Dimension:
        """Return the dimension of a power."""
        return Dimension.of({name: power * exponent for name, power in self.powers})

    def __truediv__(self, other: Dimension) -> Dimension:
        """Return the dimension of a quotient."""
        return self * other ** Fraction(-1)

    def __str__(self) -> str:
        """Return a text as `length time^-2`, or `a plain number`."""
        parts = (name if power == 1 else f"{name}^{power}" for name, power in self.powers)
        return " ".join(parts) or "a plain number"


PURE = Dimension()


def dimension_of(text: str) -> Dimension:
    """Return what a unit text measures.

    Raises:
        UnitError: it is no product of powers of known units.

    >>> str(dimension_of("m/s^2")), str(dimension_of("kg m-3")), str(dimension_of("%"))
    ('length time^-2', 'length^-3 mass', 'a plain number')
    """
    text = text.strip()
    if text.lower() in PLAIN:
        return PURE
    if len(text) > MAX_CHARACTERS:
        raise UnitError(f"a unit has at most {MAX_CHARACTERS} characters")
    return _Reader(_tokens(text)).whole()


def known_dimensions(units: Mapping[str, str]) -> tuple[dict[str, Dimension], tuple[str, ...]]:
    """Return the dimensions by column, and a sentence for each unit that cannot be read."""
    found, unread = {}, []
    for name, text in units.items():
        try:
            found[name] = dimension_of(text)
        except UnitError as error:
            unread.append(f"The unit {text!r} of {name} is not understood ({error}); left out.")
    return found, tuple(unread)


def _tokens(text: str) -> list[tuple[str, str]]:
    text = text.replace("µ", "u").replace("μ", "u")
    text = re.sub(r"([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: found[1].translate(_RAISED), text)
    tokens, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None or match.end() == place:
            raise UnitError(f"unexpected {text[place]!r}")
        kind = match.lastgroup or ""
        if kind == "power":
            tokens += [("name", match["name"]), ("mark", "^"), ("number", match["power"])]
        else:
            tokens.append((kind, match[kind]))
        place = match.end()
    return [*tokens, ("end", "")]


class _Reader:
    """Products left to right; a slash holds for the next factor only, as in print."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens, self._next = tokens, 0

    def whole(self) -> Dimension:
        found = self.product()
        if self._tokens[self._next][0] != "end":
            raise UnitError(f"unexpected {self._tokens[self._next][1]!r}")
        return found

    def product(self) -> Dimension:
        total = self.power()
        while True:
            kind, text = self._tokens[self._next]
            if kind == "end" or text == ")":
                return total
            if text in {"*", "/", "·", "\u00d7", "."}:
                self._next += 1
            factor = self.power()
            total = total / factor if text == "/" else total * factor

    def power(self) -> Dimension:
        base = self.factor()
        if self._tokens[self._next][1] in {"^", "**"}:
            self._next += 1
            return base ** self.exponent()
        return base

    def factor(self) -> Dimension:
        kind, text = self._tokens[self._next]
        self._next += 1
        if kind == "number":
            return PURE
        if kind == "name":
            return _named(text)
        if text == "(":
            inside = self.product()
            self._close()
            return inside
        raise UnitError(
            f"expected a unit, found {text!r}" if text else "expected a unit at the end"
        )

    def exponent(self) -> Fraction:
        inside = self._tokens[self._next][1] == "("
        self._next += inside
        parts = [self._whole_number()]
        if inside and self._tokens[self._next][1] == "/":
            self._next += 1
            parts.append(self._whole_number())
        if inside:
            self._close()
        if parts[-1] == 0 or any(abs(part) > LARGEST_POWER for part in parts):
            raise UnitError(f"powers go up to {LARGEST_POWER}")
        return Fraction(parts[0], parts[1] if len(parts) == 2 else 1)

    def _whole_number(self) -> int:
        sign = "-" if self._tokens[self._next][1] == "-" else ""
        self._next += bool(sign)
        kind, text = self._tokens[self._next]
        text = sign + text
        self._next += 1
        if kind != "number" or not re.fullmatch(r"-?\d{1,2}", text):
            raise UnitError(f"expected a small whole number, found {text!r}")
        return int(text)

    def _close(self) -> None:
        if self._tokens[self._next][1] != ")":
            raise UnitError("expected ')'")
        self._next += 1


@lru_cache(maxsize=512)
def _named(name: str) -> Dimension:
    registry = _registry()
    try:
        found = registry.get_dimensionality(ALIASES.get(name, name))
    except Exception as error:  # pint raises several kinds
        raise UnitError(f"unknown unit {name!r}") from error
    return Dimension.of(
        {key.strip("[]"): Fraction(value).limit_denominator(12) for key, value in found.items()}
    )


@lru_cache(maxsize=1)
def _registry() -> Any:  # Any: pint's registry, which is made dynamically
    import pint  # heavy: half a second, needed only where a table has units

    return pint.UnitRegistry(cache_folder=None)
