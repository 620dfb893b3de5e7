"""What single columns hold: kind, range, quantiles, gaps, how often which value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciharness_tabular.description.texts import Texts

Array = NDArray[np.float64]
Json = dict[str, Any]  # Any: JSON values

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SHOWN_VALUES = 10
SHOWN_LENGTH = 80


def number_column(values: Array) -> Json:
    """Return the facts of a column of numbers (rows,); NaN is a missing cell."""
    known = np.sort(values[~np.isnan(values)])
    facts: Json = {"missing": len(values) - len(known)}
    if not len(known):
        often: Json = {"value": None, "share": 0.0}
        return {"kind": "empty", **facts, "distinct": 0, "most_frequent": often}
    starts = np.flatnonzero(np.concatenate([[True], known[1:] != known[:-1]]))
    counts = np.diff(np.append(starts, len(known)))
    largest = int(counts.argmax())
    kind = "integer" if (known == np.rint(known)).all() else "real"
    return {
        "kind": kind,
        **facts,
        "distinct": len(starts),
        "min": float(known[0]),
        "max": float(known[-1]),
        **_moments(known),
        "quantiles": {f"{part:g}": _quantile(known, part) for part in QUANTILES},
        "most_frequent": {
            "value": float(known[starts[largest]]),
            "share": int(counts[largest]) / len(known),
        },
    }


def text_column(texts: Texts) -> Json:
    """Return the facts of a column of texts; a blank cell is missing."""
    rows, missing = len(texts.codes), int((texts.codes < 0).sum())
    facts: Json = {"kind": "text" if missing < rows else "empty", "missing": missing}
    counts = np.bincount(texts.codes[texts.codes >= 0], minlength=len(texts.values))
    order = np.argsort(-counts, kind="stable")[:SHOWN_VALUES]
    return {
        **facts,
        "distinct": len(texts.values),
        "most_frequent": {
            "value": _shown(texts.values[order[0]]) if len(order) else None,
            "share": int(counts[order[0]]) / (rows - missing) if len(order) else 0.0,
        },
        "values": [
            {"value": _shown(texts.values[place]), "count": int(counts[place])}
            for place in order.tolist()
        ],
    }


def is_constant(facts: Json) -> bool:
    """Return whether a column has one value or none."""
    return bool(facts["distinct"] <= 1)


def is_near_constant(facts: Json, share: float) -> bool:
    """Return whether one value has at least ``share`` of the known cells, but not all."""
    return not is_constant(facts) and facts["most_frequent"]["share"] >= share


def _moments(known: Array) -> Json:
    """Return mean, standard deviation and skewness; what is beyond double precision is left out."""
    largest = float(np.abs(known).max())
    step = 2.0 ** (math.frexp(largest)[1] - 1) if largest else 1.0  # squares stay finite
    scaled = known / step
    mean, deviation = float(scaled.mean()), float(scaled.std())
    found: Json = {"mean": mean * step, "std": deviation * step}
    if deviation > 0:
        scaled = (scaled - mean) / deviation
        found["skewness"] = float(np.mean(scaled * scaled * scaled))
    return found


def _quantile(known: Array, part: float) -> float:
    """Return a quantile of sorted values, linear between neighbours."""
    place = part * (len(known) - 1)
    low = math.floor(place)
    high = min(low + 1, len(known) - 1)
    share = place - low
    return float(known[low] * (1.0 - share) + known[high] * share)


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN_LENGTH else text[: SHOWN_LENGTH - 1] + "…"
