"""Texts from outside, made safe to store and to print."""

from __future__ import annotations

import re

# Control characters could drive a terminal, bidirectional ones could disguise
# a text, lone surrogates cannot be encoded; line breaks and tabs stay.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain_text(text: str, most: int) -> str:
    r"""Return at most ``most`` characters of a text, unsafe ones replaced.

    >>> plain_text("red: \x1b[31m", 6)
    'red: �'
    """
    return _UNSAFE.sub("\ufffd", text[:most])
