"""How much one turn takes: bounded, since nothing stops a particle half way round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sciharness.errors import DataError
from sciharness_xsuite.lattice.elements import MOST_ELEMENTS, Element

MOST_WORK = 10_000_000  # kicks and list items in one turn of one particle: about a second
_ANGLE_OF_KICK = 3.14159e-3  # xtrack's automatic kick count in bends


def check_places(elements: Mapping[str, Element], names: Sequence[str], name: str) -> None:
    """Refuse a line whose single turn would take minutes: nothing stops a turn half way.

    Raises:
        DataError: too many places, or too many kicks in all.
    """
    if not 0 < len(names) <= MOST_ELEMENTS:
        raise DataError(
            f"element_names has {len(names):,} entries, expected 1 to {MOST_ELEMENTS:,}", where=name
        )
    work = {key: _work(element) for key, element in elements.items()}
    whole = sum(work[elements[one].get("parent_name", one)] for one in names)
    if whole > MOST_WORK:
        raise DataError(
            f"one turn of one particle takes {whole:,} kicks and terms, at most {MOST_WORK:,}",
            where=name,
            hint="Lower num_multipole_kicks.",
        )


def kicks_of(element: Mapping[str, Any]) -> int:  # Any: checked JSON values
    """Return about how many kicks an element is integrated with."""
    kicks = int(element.get("num_multipole_kicks", 0) or element.get("num_kicks", 0))
    if not kicks and element["__class__"] in ("Bend", "RBend", "Magnet"):
        kicks = int(abs(element.get("angle", 0.0)) / _ANGLE_OF_KICK)
    return kicks


def _work(element: Element) -> int:
    lists = sum(len(value) for value in element.values() if isinstance(value, list))
    return 1 + kicks_of(element) + lists
