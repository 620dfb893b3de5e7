"""The picture of convergence: tunes, chromaticities and fates against kick count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sciharness import Context
from sciharness_xsuite.convergence.request import ConvergenceRequest
from sciharness_xsuite.plots.boundary import sentence
from sciharness_xsuite.plots.part import LINE, QUIET, SEVERAL, Part, Table, picture

if TYPE_CHECKING:
    from sciharness_xsuite.convergence.operation import Result

CONVERGENCE = "convergence.png"
FLOOR = 1e-13  # differences below are rounding


def write_convergence_part(
    request: ConvergenceRequest,
    context: Context,
    found: Sequence[Result],
    notes: Sequence[str],
    metrics: Mapping[str, float],
) -> None:
    """Write the part of the report that shows convergence."""
    part = Part("Convergence of the integration")
    part.text += [sentence(note) for note in notes]
    finest = found[-1]
    part.tables.append(
        Table(
            "Optics by variant, and the share of particles whose fate differs from the last one",
            ("variant", "qx", "qy", "dqx", "dqy", "fates changed"),
            tuple(
                (
                    one.variant.name,
                    *(one.optics.get(name) for name in ("qx", "qy", "dqx", "dqy")),
                    one.changed(finest),
                )
                for one in found
            ),
        )
    )
    coarser = [one for one in found if 0 < one.variant.kicks < finest.variant.kicks and one.optics]
    if coarser and finest.optics:
        _draw(request, context, part, found, coarser)
    part.facts = dict(metrics)
    part.write(context)


def _draw(
    request: ConvergenceRequest,
    context: Context,
    part: Part,
    found: Sequence[Result],
    coarser: Sequence[Result],
) -> None:
    finest, own = found[-1], found[0]
    kicks = [one.variant.kicks for one in coarser]
    caption = (
        f"Difference of tunes and chromaticities from {finest.variant.kicks} kicks in each magnet; "
        "dashed: the maps that this plugin uses; grey: what the request allows."
    )
    with picture(context, part, CONVERGENCE, caption, size=(9.0, 3.8), grid=(1, 2)) as axes:
        bounds = (request.tune_tolerance, request.chromaticity_tolerance)
        for panel, names, bound in zip(axes, (("qx", "qy"), ("dqx", "dqy")), bounds, strict=True):
            for name, colour in zip(names, SEVERAL, strict=False):
                apart = [max(one.apart(finest, name) or 0.0, FLOOR) for one in coarser]
                panel.plot(kicks, apart, "o-", color=colour, label=name)
                ours = own.apart(finest, name)
                if ours is not None:
                    panel.axhline(max(ours, FLOOR), color=colour, linestyle="--", linewidth=1)
            panel.axhline(bound, color=QUIET, linewidth=1)
            panel.set(
                xlabel="kicks in each magnet", ylabel="difference", xscale="log", yscale="log"
            )
            panel.set_xticks(kicks, [str(one) for one in kicks])
            panel.minorticks_off()
            panel.legend()
            panel.tick_params(color=LINE)
            panel.set_xlim(min(kicks) * 0.8, max(kicks) * 1.25)
