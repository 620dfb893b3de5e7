"""What the units of a table mean for a search: other views to search, formulas to prefer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen

from sciharness_publisher.expression import Expression, Number, parse, render
from sciharness_symbolic_regression.engines.base import Attempt, Engine, Findings, Report
from sciharness_symbolic_regression.finishing.candidates import Candidate
from sciharness_symbolic_regression.formulas.algebra import Undefined, canonical
from sciharness_symbolic_regression.formulas.written import tree_of
from sciharness_symbolic_regression.samples.sample import Rows, Sample
from sciharness_symbolic_regression.units.checking import Check, check
from sciharness_symbolic_regression.units.dimensions import Dimension, known_dimensions
from sciharness_symbolic_regression.units.groups import View, views

AS_GOOD = 1.1  # a possible formula may miss by this factor more and is still preferred
EXACT = 1e-9  # relative error of a scale alone that nothing can improve on

Json = dict[str, Any]  # Any: JSON values


@frozen
class KnownUnits:
    """Dimensions of columns by symbol and of the target; ``policy`` is that of the request."""

    policy: str = "ignore"
    columns: Mapping[str, Dimension] = field(factory=dict)
    target: Dimension | None = None
    unread: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, units: Mapping[str, str], names: Mapping[str, str], target: str, policy: str
    ) -> KnownUnits:
        """Return what the units of a table say; ``names`` are column names by symbol."""
        if policy == "ignore" or not units:
            return cls()
        used = {name: unit for name, unit in units.items() if name in {*names.values(), target}}
        found, unread = known_dimensions(used)
        columns = {symbol: found[name] for symbol, name in names.items() if name in found}
        return cls(policy, columns, found.get(target), unread)

    def views(self, sample: Sample) -> tuple[View, ...]:
        """Return smaller problems that all possible formulas of the sample can be found in."""
        if self.target is None or self.policy == "ignore":
            return ()
        others = tuple(name for name in sample.symbols if name not in self.columns)
        found = views(self.columns, others, self.target, sample)
        return tuple(view for view in found if view.sample(sample) is not None)

    def check(self, tree: Expression) -> Check:
        """Return whether a formula is possible."""
        return check(tree, self.columns, self.target)

    def admissible(self, members: Sequence[Candidate], rows: Rows) -> list[Candidate]:
        """Return the members that may be chosen.

        ``refuse`` leaves out the impossible ones where anything is left,
        ``auto`` those that no possible one equals, and ``mark`` nothing.
        """
        if self.target is None or self.policy not in {"auto", "refuse"}:
            return list(members)
        possible = [one for one in members if self.check(tree_of(one.form)).possible is not False]
        if not possible or self.policy == "refuse":
            return possible or list(members)
        floor = rows.validation.noise_floor
        best = min(max(one.validation_error, floor) for one in members)
        good = min(max(one.validation_error, floor) for one in possible) <= AS_GOOD * best
        return possible if good else list(members)

    def document(self, tree: Expression) -> Json:
        """Return what formulas.json says of a formula's units; empty without units."""
        if self.target is None:
            return {}
        found = self.check(tree)
        return {"units_possible": found.possible, "units_fault": found.why or None}

    def sentences(self, tree: Expression) -> tuple[str, ...]:
        """Return what a reader of the chosen formula has to know."""
        found = self.check(tree)
        if found.possible is not False:
            return self.unread
        told = f"By units the formula {found.why}; a constant would have to carry a unit."
        return (*self.unread, told)


@define(eq=False)
class Viewed:
    """An engine that searches in the view that an attempt names, and in the columns for view 0."""

    engine: Engine
    views: tuple[View, ...] = ()
    name: str = field(init=False)
    operators: frozenset[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.name, self.operators = self.engine.name, self.engine.operators

    def unavailable(self) -> str | None:
        """Return why the engine underneath cannot run here, or None."""
        return self.engine.unavailable()

    def search(self, sample: Sample, attempt: Attempt, report: Report) -> Findings:
        """Return what the engine finds in the attempt's view, over the original columns."""
        if not attempt.view:
            return self.engine.search(sample, attempt, report)
        view = self.views[attempt.view - 1]
        seen = view.sample(sample)
        if seen is None:
            return Findings()
        if not view.groups and not view.others:
            return _scale_alone(view, seen)
        plain = evolve(attempt, view=0)
        found = self.engine.search(seen, plain, lambda said: report(_back(said, view)))
        return _back(found, view)


def with_views(attempts: Sequence[Attempt], count: int) -> tuple[Attempt, ...]:
    """Return the attempts with views in turn, the columns as they are last in each turn."""
    return tuple(evolve(one, view=(place + 1) % (count + 1)) for place, one in enumerate(attempts))


def _back(found: Findings, view: View) -> Findings:
    trees = [tree for text in found.formulas for tree in view.back(_flat(parse(text)))]
    return evolve(found, formulas=tuple(dict.fromkeys(map(render, trees))))


def _flat(tree: Expression) -> Expression:
    """Return the tree as a plain sum of terms if it is defined at all."""
    try:
        return tree_of(canonical(tree))
    except Undefined:
        return tree


def _scale_alone(view: View, seen: Sample) -> Findings:
    """Return the one formula of a view without columns: a number times the scale."""
    mean = float(np.average(seen.target, weights=seen.weights))
    error = float(np.sqrt(np.average((seen.target - mean) ** 2, weights=seen.weights)))
    relative = error / abs(mean) if mean else 1.0
    (scaled,) = view.back(Number(mean))
    return Findings((render(scaled),), 1, min(relative, 1.0), relative <= EXACT)
