"""What was tracked along rays, kept over a kill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from attrs import astuple, define

from sciharness import Context
from sciharness_xsuite.boundary.rays import Fate, Ray

TRIED = "tried.json"


@define
class Kept:
    """Keeps the fates of all rays in the checkpoint of an action."""

    context: Context

    def take(self, rays: Sequence[Ray]) -> int:
        """Give rays the fates of the attempt before; return after which stage it was."""
        folder = self.context.restored
        path = None if folder is None else folder / TRIED
        if path is None or not path.is_file():
            return 0
        plain = json.loads(path.read_text("utf-8"))
        if len(plain["rays"]) != len(rays):
            return 0
        for ray, fates in zip(rays, plain["rays"], strict=True):
            ray.fates.update({one[0]: Fate(*one) for one in fates})
        return int(plain["stage"])

    def keep(self, rays: Sequence[Ray], stage: int) -> None:
        """Write all fates; the file appears whole or not at all."""
        fates = [[astuple(one) for one in ray.fates.values()] for ray in rays]
        path: Path = self.context.checkpoint() / TRIED
        part = path.with_suffix(".part")
        part.write_text(json.dumps({"stage": stage, "rays": fates}), "utf-8")
        part.replace(path)
