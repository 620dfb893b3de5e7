"""Texts of unknown origin, made fit to be shown: short, and nothing that steers a terminal."""

from __future__ import annotations

import unicodedata

MAX_SHOWN = 200

# Control, format (bidirectional marks), surrogate, private, unassigned, line and paragraph ends.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    r"""Return a text for display: what cannot be seen is escaped, what is too long is cut.

    >>> shown("plain name"), shown("a\x1b[31mb")
    ('plain name', 'a\\x1b[31mb')
    """
    cut = text[:limit]
    safe = "".join(
        one if unicodedata.category(one) not in _UNSEEN else _escaped(one) for one in cut
    )
    return safe + "…" if len(text) > limit else safe


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
