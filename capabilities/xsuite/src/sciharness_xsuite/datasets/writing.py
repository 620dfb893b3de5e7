"""The files of a data set: labels to learn from, all facts, and the same as context.data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sciharness import Context
from sciharness.bundles import pack_folder
from sciharness.contextdata import from_csv
from sciharness_xsuite.datasets.gathering import Gathered
from sciharness_xsuite.datasets.space import MEANINGS, UNITS, Space
from sciharness_xsuite.lattice import Lattice
from sciharness_xsuite.tracking import loss_reason

TARGET = "survived"
CLASSES = ("lost", "survived")
LABELLED, FACTS, FOLDER = "dataset.csv", "particles.csv", "context.data.tar"


def write_labelled(context: Context, space: Space, found: Gathered) -> None:
    """Write ``dataset.csv``: a name for each particle, the coordinates that vary, the label."""
    columns = [*_points(found, space), _labels(found)]
    _csv(
        context.output(LABELLED, "DATASET"),
        ["sample_id", *space.names, TARGET],
        [_names(found), *columns],
    )


def write_facts(
    context: Context, space: Space, found: Gathered, lattice: Lattice, turns: int
) -> None:
    """Write ``particles.csv`` and the same as a packed context.data directory."""
    path = context.output(FACTS, "OTHER")
    turn, element = np.concatenate(found.lost_at_turn), np.concatenate(found.lost_at_element)
    names = np.array([*lattice.element_names, "-"])
    reasons = [loss_reason(int(code)) or "-" for code in np.concatenate(found.state)]
    kinds = [kind for kind, some in zip(found.kinds, found.points, strict=True) for _ in some]
    header = [*space.names, TARGET, "lost_at_turn", "lost_at_element", "reason", "drawn"]
    columns = [*_points(found, space), _labels(found), turn, names[element], reasons, kinds]
    _csv(path, header, columns)
    folder = context.workspace / "context.data"
    from_csv(
        path,
        folder,
        axis="particle",
        text=(TARGET, "lost_at_element", "reason", "drawn"),
        descriptions=_descriptions(space, turns, lattice, found),
    )
    with context.output(FOLDER, "directory_bundle").open("wb") as sink:
        pack_folder(folder, sink)


def _descriptions(space: Space, turns: int, lattice: Lattice, found: Gathered) -> dict[str, str]:
    told = {name: f"Start value: {MEANINGS[name]} [{UNITS[name]}]." for name in space.names}
    fixed = ", ".join(f"{name} = {value:g}" for name, value in space.fixed.items())
    return {
        **told,
        TARGET: f"Whether the particle survived {turns} turns. {found.criterion}.",
        "lost_at_turn": "Turn in which it was lost, counted from 0; -1 for survivors.",
        "lost_at_element": "Name of the element where it was lost; - for survivors.",
        "reason": "Why it was lost; - for survivors.",
        "drawn": "How the start value was chosen: given, uniform over the domain, or near the "
        "boundary of survival.",
        "particle": f"Particles tracked in {lattice.name}; other coordinates: {fixed or 'all 0'}.",
    }


def _points(found: Gathered, space: Space) -> list[Any]:  # Any: columns of float64
    return list(np.concatenate(found.points).reshape(-1, len(space.names)).T)


def _labels(found: Gathered) -> list[str]:
    return [CLASSES[int(one)] for one in np.concatenate(found.survived)]


def _names(found: Gathered) -> list[str]:
    """Return names that say how each particle was chosen; they are no feature."""
    kinds = [kind for kind, some in zip(found.kinds, found.points, strict=True) for _ in some]
    return [f"{kind}-{number}" for number, kind in enumerate(kinds)]


def _csv(path: Path, header: Sequence[str], columns: Iterable[Any]) -> None:
    """Write columns; floats have their shortest form that reads the same."""
    cells = [map(_cell, column) for column in columns]
    with path.open("w", encoding="utf-8", newline="") as out:
        out.write(",".join(header) + "\n")
        out.writelines(",".join(row) + "\n" for row in zip(*cells, strict=True))


def _cell(value: Any) -> str:  # Any: text or a number of numpy
    if isinstance(value, str):
        return f'"{value}"' if "," in value else value
    return repr(value.item()) if isinstance(value, np.generic) else repr(value)
