"""The picture of optics: beta functions and dispersion round the ring."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciharness import Context
from sciharness_xsuite.optics import Optics
from sciharness_xsuite.plots.boundary import sentence
from sciharness_xsuite.plots.part import LINE, SEVERAL, Part, picture

OPTICS = "optics.png"
_WHOLE = ("qx", "qy", "qs", "dqx", "dqy")
_AT_START = ("betx", "bety", "alfx", "alfy", "dx", "dpx")


def write_optics_part(optics: Optics, context: Context, notes: Sequence[str]) -> None:
    """Write the part of the report that shows optics; words alone where there are none."""
    part = Part("Optics of the ring")
    part.text += [sentence(note) for note in notes]
    if not optics.fault:
        part.facts = {name: getattr(optics, name) for name in _WHOLE}
        part.facts |= {f"{name} at the start": getattr(optics, name) for name in _AT_START}
        _draw(optics, context, part)
    part.write(context)


def _draw(optics: Optics, context: Context, part: Part) -> None:
    table = optics.table
    along = np.asarray(table.s, dtype=float)
    caption = "Beta functions and horizontal dispersion round the ring, from its start (element 0)."
    with picture(context, part, OPTICS, caption, size=(8.4, 4.0)) as axes:
        axes.plot(along, np.asarray(table.betx), color=SEVERAL[0], label="beta x")
        axes.plot(along, np.asarray(table.bety), color=SEVERAL[1], label="beta y")
        axes.set(xlabel="s [m]", ylabel="beta [m]", ylim=(0, None))
        axes.set_xlim(along[0], along[-1])
        other = axes.twinx()
        other.plot(along, np.asarray(table.dx), "--", color=SEVERAL[2], label="dispersion x")
        other.set_ylabel("dispersion [m]")
        other.spines["right"].set_visible(True)
        other.spines["right"].set_color(LINE)
        axes.figure.legend(loc="outside upper center", ncols=3)
