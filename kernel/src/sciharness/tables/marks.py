"""Where fields and records end in the bytes of a table, quoted fields included.

A quote opens a quoted field only at the start of a field (blanks before it
allowed); inside, two quotes stand for one; after the closing quote only blanks
may follow. Any other quote is an ordinary character.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LF, CR, QUOTE = 10, 13, 34


@frozen(eq=False)
class Marks:
    """Ends of the fields of all complete records at the head of some bytes.

    ``places`` (m,) int64 are the places of the byte after each field,
    ``ends_record`` (m,) bool says where that byte is a line feed. Records are
    complete up to ``cut``. ``regular`` means that a plain CSV parser sees the
    same fields. ``faults`` are places of quoted fields with text after the
    closing quote. ``open_quote`` is the place of a quote that the bytes do not
    close.
    """

    places: NDArray[np.int64]
    ends_record: NDArray[np.bool_]
    cut: int
    regular: bool = True
    faults: tuple[int, ...] = field(default=())
    open_quote: int | None = None


def find_marks(data: bytes, delimiter: str) -> Marks:
    """Return the field ends of all complete records in ``data``.

    ``data`` starts at the start of a record.
    """
    if QUOTE not in data or not _may_open(data, delimiter):
        return _unquoted(data, delimiter)
    head = _quoted(data, delimiter)
    if head is None:
        return _walk(data, delimiter)
    if head.cut == len(data):
        return head
    # A quote is open at the end, or a single one among ordinary characters only
    # makes it look so; walking through what is left tells.
    return _joined(head, _walk(data[head.cut :], delimiter))


def _may_open(data: bytes, delimiter: str) -> bool:
    """Whether any quote stands where a field may start; inch marks do not."""
    if data.startswith(b'"'):
        return True
    return any(before + b'"' in data for before in (delimiter.encode(), b"\n", b" "))


def _joined(head: Marks, tail: Marks) -> Marks:
    import numpy as np

    shift = head.cut
    return Marks(
        np.concatenate((head.places, tail.places + shift)),
        np.concatenate((head.ends_record, tail.ends_record)),
        shift + tail.cut,
        regular=head.regular and not tail.cut,
        faults=tuple(fault + shift for fault in tail.faults),
        open_quote=None if tail.open_quote is None else tail.open_quote + shift,
    )


def _unquoted(data: bytes, delimiter: str) -> Marks:
    cut = data.rfind(b"\n") + 1
    places, ends = _candidates(data[:cut] if cut < len(data) else data, delimiter)
    return Marks(places, ends, cut)


def _candidates(data: bytes, delimiter: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    import numpy as np

    buffer = np.frombuffer(data, np.uint8)
    mark = ord(delimiter)
    if mark <= ord(","):
        # One comparison instead of two: in number columns hardly anything else is
        # that low, and what is gets sorted out below.
        places = np.flatnonzero(buffer <= max(mark, LF))
        found = buffer[places]
        ends = found == LF
        wanted = (found == mark) | ends
        if not wanted.all():
            places, ends = places[wanted], ends[wanted]
        return places, ends
    hits = buffer == mark
    hits |= buffer == LF
    places = np.flatnonzero(hits)
    return places, buffer[places] == LF


def _quoted(data: bytes, delimiter: str) -> Marks | None:
    """Find marks by the parity of quotes; ``None`` where that cannot be relied on."""
    import numpy as np

    buffer = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(buffer == QUOTE)
    places, ends = _candidates(data, delimiter)
    outside = (np.searchsorted(quotes, places) & 1) == 0
    places, ends = places[outside], ends[outside]
    last = np.flatnonzero(ends)
    if not last.size:
        return None
    cut = int(places[last[-1]]) + 1
    places, ends = places[: last[-1] + 1], ends[: last[-1] + 1]
    quotes = quotes[: np.searchsorted(quotes, cut)]
    if not _well_placed(buffer, quotes, ord(delimiter)):
        return None
    return Marks(places, ends, cut)


def _well_placed(buffer: NDArray[np.uint8], quotes: NDArray[np.int64], delimiter: int) -> bool:
    """Whether each opening quote starts a field and each closing one ends it.

    By induction from the start of a record the parity of quotes then is the
    truth. A doubled quote is a closing one right before an opening one.
    """
    import numpy as np

    opening, closing = quotes[0::2], quotes[1::2]
    before = buffer[opening - 1]
    fits = (before == delimiter) | (before == LF) | (before == QUOTE) | (opening == 0)
    if not fits.all():
        return False
    after = buffer[closing + 1]
    returns = after == CR
    following = buffer[np.minimum(closing + 2, buffer.size - 1)]
    fits = (after == delimiter) | (after == LF) | (after == QUOTE) | (returns & (following == LF))
    return bool(fits.all())


def _walk(data: bytes, delimiter: str) -> Marks:
    """Find marks field by field; slow, and right for any placing of quotes."""
    import numpy as np

    mark = re.escape(delimiter.encode())
    unquoted = re.compile(rb"[^" + mark + rb"\n]*+")
    quoted = re.compile(rb' *+"[^"]*+(?:""[^"]*+)*+" *+')
    opening = re.compile(rb' *+"')
    places: list[int] = []
    ends: list[bool] = []
    faults: list[int] = []
    place = cut = complete = 0
    open_quote = None
    while place < len(data):
        end = None
        if opening.match(data, place):
            closed = quoted.match(data, place)
            if closed is None:
                open_quote = place
                break
            end = closed.end()
            if not _ends_field(data, end, delimiter):
                if end + 1 >= len(data):
                    break
                faults.append(place)
        tail = unquoted.match(data, place if end is None else end)
        stop = tail.end() if tail is not None else len(data)
        if stop >= len(data):
            break
        places.append(stop)
        ends.append(data[stop] == LF)
        place = stop + 1
        if ends[-1]:
            cut, complete = place, len(places)
    return Marks(
        np.array(places[:complete], dtype=np.int64),
        np.array(ends[:complete], dtype=np.bool_),
        cut,
        regular=False,
        faults=tuple(fault for fault in faults if fault < cut),
        open_quote=open_quote,
    )


def _ends_field(data: bytes, place: int, delimiter: str) -> bool:
    rest = data[place : place + 2]
    return rest[:1] in (delimiter.encode(), b"\n") or rest == b"\r\n"
