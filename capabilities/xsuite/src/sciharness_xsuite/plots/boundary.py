"""Pictures of boundaries: loss turn along a ray, aperture over angles and over turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sciharness import Context
from sciharness_xsuite.plots.part import ALIVE, LINE, LOST, QUIET, SEVERAL, Part, Table, picture

if TYPE_CHECKING:
    from sciharness_xsuite.boundary.along import Along
    from sciharness_xsuite.boundary.aperture import Aperture

BOUNDARY, APERTURE, BY_ANGLE, BY_TURNS = (
    "boundary.png",
    "aperture.png",
    "aperture_by_angle.png",
    "aperture_by_turns.png",
)


def sentence(text: str) -> str:
    """Return a note as a sentence."""
    return f"{text}." if text.startswith("xtrack") else f"{text[0].upper()}{text[1:]}."


def write_along_part(
    sides: Sequence[Along], context: Context, notes: Sequence[str], metrics: Mapping[str, float]
) -> None:
    """Write the part of the report that shows a boundary along one or two rays."""
    from sciharness_xsuite.boundary.along import by_turns

    part = Part("The boundary of survival")
    part.text += [sentence(note) for note in notes]
    caption = (
        "Turn of loss (counted from 1) of every particle that was tracked. The line marks the "
        "bracket of last survivor and first loss."
    )
    size = (6.4, 3.9) if len(sides) == 1 else (9.0, 3.9)
    with picture(
        context,
        part,
        BOUNDARY,
        caption,
        size=size,
        grid=(1, len(sides)),
        options={"squeeze": False, "sharey": True},
    ) as axes:
        for panel, side in zip(axes[0], sides, strict=True):
            _draw_ray(panel, side)
        axes[0][0].set_ylabel("turn of loss")
        handles = axes[0][0].get_legend_handles_labels()
        axes[0][0].figure.legend(*handles, loc="outside upper center", ncols=3)
    for side in sides:
        unit = f" [{side.unit}]" if side.unit else ""
        part.tables.append(
            Table(
                f"Boundary along {side.name} after fewer turns, of the particles that were tracked",
                ("turns", f"last survivor{unit}", f"first loss{unit}"),
                tuple(by_turns(side)),
            )
        )
    part.facts = dict(metrics)
    part.write(context)


def _draw_ray(panel: Any, side: Along) -> None:  # Any: axes of matplotlib
    scale, unit = (1e3, " [mm]") if side.unit == "m" else (1.0, "")
    lost = [one for one in side.ray.tried if not one.survived]
    alive = [one for one in side.ray.tried if one.survived]
    panel.plot(
        [one.amplitude * scale for one in lost],
        [one.lost_at_turn + 1 for one in lost],
        "o",
        markersize=3.5,
        color=LOST,
        label="lost",
    )
    panel.plot(
        [one.amplitude * scale for one in alive],
        [side.turns] * len(alive),
        "|",
        markersize=10,
        color=ALIVE,
        label=f"survived {side.turns:,} turns",
    )
    if side.ray.high is not None:
        middle = ((side.ray.low or 0.0) + side.ray.high) / 2.0 * scale
        panel.axvline(middle, color=LINE, linewidth=1, linestyle="--", label="boundary")
    panel.set(xlabel=f"{side.name}{unit}", yscale="log", ylim=(0.8, side.turns * 1.7))
    far = max(side.ray.high or 0.0, side.ray.outermost or 0.0)
    if far > 0.0 and side.ray.high is not None:  # far out all are lost at once
        panel.set_xlim(-0.03 * far * scale, min(side.ray.largest, 2.0 * far) * scale)


def write_aperture_part(
    found: Aperture, context: Context, notes: Sequence[str], metrics: Mapping[str, float]
) -> None:
    """Write the part of the report that shows a dynamic aperture."""
    part = Part("The dynamic aperture")
    part.text += [sentence(note) for note in notes]
    _draw_plane(found, context, part)
    if len(found.rays) > 1:
        _draw_angles(found, context, part)
    _draw_turns(found, context, part)
    part.tables.append(
        Table(
            f"Aperture by angle, in {found.unit}",
            ("angle [deg]", "last survivor", "first loss", "turn of first loss"),
            tuple(found.by_angle()),
        )
    )
    part.tables.append(
        Table(
            f"Aperture after fewer turns, of the particles that were tracked, in {found.unit}",
            ("turns", "smallest", "mean"),
            tuple(found.by_turns()),
        )
    )
    part.facts = dict(metrics)
    part.write(context)


def _shown(found: Aperture) -> tuple[float, str]:
    return (1e3, "mm") if found.unit == "m" else (1.0, "sigma")


def _draw_plane(found: Aperture, context: Context, part: Part) -> None:
    scale, unit = _shown(found)
    caption = (
        f"All particles that were tracked for {found.turns:,} turns; the line joins the last "
        "survivors of the rays."
    )
    with picture(context, part, APERTURE, caption, size=(6.2, 4.8)) as axes:
        for fate, colour, name in ((False, LOST, "lost"), (True, ALIVE, "survived")):
            points = [
                (one.amplitude * scale * np.cos(angle), one.amplitude * scale * np.sin(angle))
                for angle, ray in zip(found.angles, found.rays, strict=True)
                for one in ray.tried
                if one.survived == fate
            ]
            if points:
                axes.plot(*zip(*points, strict=True), ".", markersize=4, color=colour, label=name)
        ends = found.ends() * scale
        axes.plot(
            ends * np.cos(found.angles),
            ends * np.sin(found.angles),
            "-",
            color=LINE,
            label="aperture",
        )
        reach = 1.5 * max(ends.max(), 1e-12)
        axes.set(xlabel=f"x [{unit}]", ylabel=f"y [{unit}]")
        axes.set_xlim(*_limits(reach, found.r_max * scale, np.cos(found.angles)))
        axes.set_ylim(*_limits(reach, found.r_max * scale, np.sin(found.angles)))
        axes.figure.legend(loc="outside upper center", ncols=3)


def _limits(reach: float, largest: float, parts: Any) -> tuple[float, float]:
    far = min(reach, largest)
    margin = 0.04 * far
    return (
        min(0.0, float(parts.min()) * far) - margin,
        max(0.0, float(parts.max()) * far) + margin,
    )


def _draw_angles(found: Aperture, context: Context, part: Part) -> None:
    scale, unit = _shown(found)
    caption = "Last survivor along each ray; the bar reaches to the first loss."
    with picture(context, part, BY_ANGLE, caption, size=(6.2, 3.8)) as axes:
        low = found.ends() * scale
        high = np.array([np.nan if ray.high is None else ray.high for ray in found.rays]) * scale
        degrees = np.degrees(found.angles)
        width = np.nan_to_num(high - low)
        axes.errorbar(
            degrees,
            low,
            yerr=[np.zeros(len(low)), width],
            fmt="o-",
            color=ALIVE,
            ecolor=LOST,
            capsize=2,
        )
        free = np.isnan(high)
        if free.any():
            axes.plot(degrees[free], low[free], "^", color=QUIET, label="none lost up to here")
            axes.figure.legend(loc="outside upper center")
        if np.ptp(degrees) > 60:
            axes.xaxis.set_major_locator(_every(30))
        axes.set(xlabel="angle [deg]", ylabel=f"aperture [{unit}]", ylim=(0, None))


def _every(degrees: float) -> Any:  # Any: a locator of matplotlib
    from matplotlib.ticker import MultipleLocator

    return MultipleLocator(degrees)


def _draw_turns(found: Aperture, context: Context, part: Part) -> None:
    scale, unit = _shown(found)
    caption = "Aperture had tracking ended after fewer turns, from the particles that were tracked."
    turns, smallest, mean = (np.array(one) for one in zip(*found.by_turns(), strict=True))
    with picture(context, part, BY_TURNS, caption, size=(6.2, 3.8)) as axes:
        axes.plot(turns, mean * scale, "o-", color=SEVERAL[0], label="mean over angles")
        axes.plot(turns, smallest * scale, "s-", color=SEVERAL[1], label="smallest")
        axes.set(xlabel="turns", ylabel=f"aperture [{unit}]", xscale="log", ylim=(0, None))
        axes.figure.legend(loc="outside upper center", ncols=2)
