"""Single values of elements: which types and ranges a field may have."""

from __future__ import annotations

import math
from typing import Any

from sciharness_xsuite.lattice.source import NotFinite

MOST_ORDER = 20
MOST_KICKS = 10_000
MOST_ITEMS = 10_000
MOST_ANGLE = 2.0 * math.pi  # one element bends at most a full turn
MOST_LENGTH = 1e7
_MOST_NUMBER = 1e60  # LimitEllipse keeps a^2 b^2 of apertures of 1e10 m
_MOST_TEXT = 200

_TEXTS = {
    "model": (
        "adaptive",
        "full",
        "expanded",
        "exact",
        "linear",
        "bend-kick-bend",
        "rot-kick-rot",
        "mat-kick-mat",
        "mat-kick-mat-exact",
        "drift-kick-drift-exact",
        "drift-kick-drift-expanded",
        "rot-kick-rot-low-order",
        "rot-kick-rot-high-order",
    ),
    "integrator": (
        "adaptive",
        "teapot",
        "yoshida-4",
        "yoshida-6",
        "yoshida-8",
        "yoshida4",
        "uniform",
    ),
    "edge_entry_model": ("suppressed", "linear", "full", "dipole-only"),
    "edge_exit_model": ("suppressed", "linear", "full", "dipole-only"),
    "rbend_model": ("adaptive", "curved-body", "straight-body"),
    "side": ("entry", "exit"),
    "seq": ("xys", "xsy", "yxs", "ysx", "sxy", "syx"),
}
_NAMES = ("parent_name", "name_associated_aperture", "prototype")
_WHOLE = {
    "order": (0, MOST_ORDER),
    "num_multipole_kicks": (0, MOST_KICKS),
    "num_kicks": (0, MOST_KICKS),
    "model": (0, 9),
    "integrator": (0, 5),
    "edge_entry_model": (-1, 2),
    "edge_exit_model": (-1, 2),
    "rbend_model": (0, 2),
    "side": (0, 1),
}
_RANGES = {"length": MOST_LENGTH, "length_straight": MOST_LENGTH, "weight": 1.0 + 1e-6}
_MULTIPOLES = ("knl", "ksl", "knl_rel", "ksl_rel", "pn", "ps", "phase_n", "phase_s")


def fault_of(field: str, value: Any, kind: str = "") -> str:  # Any: a JSON value
    """Return what is wrong with a value of a field of a class, or an empty text."""
    if field == "angle" and not kind.endswith("Rotation"):  # rotations are in degrees
        return _number_fault(value, MOST_ANGLE)
    if isinstance(value, str):
        return _text_fault(field, value)
    if isinstance(value, list):
        most = MOST_ORDER + 1 if field in _MULTIPOLES else MOST_ITEMS
        return _list_fault(value, most)
    if field in _WHOLE:
        return _whole_fault(value, *_WHOLE[field])
    return _number_fault(value, _RANGES.get(field, _MOST_NUMBER))


def _text_fault(field: str, value: str) -> str:
    if field in _NAMES:
        return "" if 0 < len(value) <= _MOST_TEXT else f"expected a name, got {len(value)} letters"
    if field not in _TEXTS:
        return f"expected a number, got the text {value[:40]!r}"
    known = _TEXTS[field]
    return "" if value in known else f"expected one of {', '.join(known)}, got {value[:40]!r}"


def _whole_fault(value: Any, least: int, most: int) -> str:  # Any: a JSON value
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if not whole or not least <= value <= most:
        return f"expected a whole number from {least} to {most}, got {_said(value)}"
    return ""


def _number_fault(value: Any, most: float) -> str:  # Any: a JSON value
    if isinstance(value, NotFinite) or not isinstance(value, int | float):
        return f"expected a finite number, got {_said(value)}"
    if not abs(value) <= most:
        return f"expected a number of at most {most:g}, got {_said(value)}"
    return ""


def _list_fault(value: list[Any], most: int) -> str:  # Any: JSON values
    if len(value) > most:
        return f"expected at most {most} numbers, got {len(value)}"
    for place, item in enumerate(value):
        fault = _list_fault(item, most) if isinstance(item, list) else _number_fault(item, 1e60)
        if fault:
            return f"[{place}]: {fault}"
    return ""


def _said(value: Any) -> str:  # Any: a JSON value
    text = repr(float(value)) if isinstance(value, NotFinite) else repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
