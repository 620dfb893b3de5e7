"""The visible rows: what a formula predicts there, and how that scatters."""

from __future__ import annotations

from collections.abc import Mapping
from keyword import iskeyword
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from sciharness import Input, read_table
from sciharness.errors import HarnessError
from sciharness_reporting.findings import Formulas

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SHOWN = 1500
_EXTREMES = 60
_TREND_BINS = 16
_TREND_ROWS = 20
_LARGEST = 1e300  # beyond it the width of a range might not be a float


@frozen(eq=False)
class Column:
    """One column of the visible rows: its name, unit and values."""

    name: str
    unit: str
    values: Floats

    @property
    def title(self) -> str:
        """The name with its unit, unless the name holds it already."""
        told = not self.unit or self.name.endswith(f"[{self.unit}]")
        return self.name if told else f"{self.name} [{self.unit}]"


@frozen(eq=False)
class Visible:
    """Visible rows with, where a formula could be computed, its predictions."""

    features: tuple[Column, ...]
    target: Column | None
    classes: tuple[str, ...]
    predicted: Floats | None = None
    not_finite: int = 0

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.target.values) if self.target else 0


def read_visible(given: Input | None) -> tuple[Visible | None, str]:
    """Return the visible rows, or ``None`` and why they could not be read."""
    if given is None:
        return None, ""
    try:
        arrays = read_table(given)
    except (HarnessError, OSError, ValueError) as error:
        return None, f"The visible rows could not be read: {error}"
    units = arrays.units
    features = tuple(
        Column(name, units.get(name, ""), arrays.X[:, place])
        for place, name in enumerate(arrays.features)
    )
    name = arrays.target or "target"
    values = None if arrays.y is None else arrays.y.astype("float64")
    target = None if values is None else Column(name, units.get(name, ""), values)
    return Visible(features, target, arrays.classes), ""


def with_predictions(visible: Visible, formulas: Formulas) -> tuple[Visible, str]:
    """Return the rows with the chosen formula's values, or why it could not be computed."""
    import numpy as np

    from sciharness_publisher.evaluation import evaluate
    from sciharness_publisher.expression import parse

    if formulas.choice is None or visible.target is None or visible.classes:
        return visible, ""
    columns = named_columns(visible, formulas)
    try:
        values = evaluate(parse(formulas.choice.formula, columns.keys()), columns)
    except (HarnessError, KeyError, RecursionError) as error:
        return visible, f"The formula could not be computed on the visible rows: {error}"
    predicted = np.broadcast_to(values, visible.target.values.shape)
    bad = int((~np.isfinite(predicted)).sum())
    return evolve(visible, predicted=np.array(predicted), not_finite=bad), ""


def named_columns(visible: Visible, formulas: Formulas) -> Mapping[str, Floats]:
    """Return the columns by the names that a formula uses for them."""
    values = {column.name: column.values for column in visible.features}
    features = formulas.features or tuple(values)
    numbered = {f"X{place}": name for place, name in enumerate(features, start=1)}
    plain = {name: name for name in features if name.isidentifier() and not iskeyword(name)}
    return {key: values[name] for key, name in (numbered | plain).items() if name in values}


def spread_out(count: int, size: Floats | None = None) -> NDArray[np.int64]:
    """Return which of ``count`` rows to draw: evenly spaced, and those of the largest ``size``.

    The choice depends on nothing but the rows, so plots are the same each time.
    """
    import numpy as np

    if count <= SHOWN:
        return np.arange(count)
    even = np.linspace(0, count - 1, SHOWN - _EXTREMES).round().astype(np.int64)
    if size is None:
        return np.unique(even)
    return np.union1d(even, np.argsort(-size, kind="stable")[:_EXTREMES])


def trend(predicted: Floats, residual: Floats) -> list[tuple[float, float, float]]:
    """Return mean prediction, mean and deviation of residuals in bins of like prediction."""
    import numpy as np

    count = min(_TREND_BINS, len(predicted) // _TREND_ROWS)
    if count < 2:
        return []
    parts = np.array_split(np.argsort(predicted, kind="stable"), count)
    return [
        (float(predicted[p].mean()), float(residual[p].mean()), float(residual[p].std()))
        for p in parts
    ]


def histogram(values: Floats, bins: int = 16) -> tuple[int, ...]:
    """Return how many finite values lie in equal parts of their range."""
    import numpy as np

    known = values[np.isfinite(values)]
    if not known.size or max(-known.min(), known.max()) > _LARGEST:
        return ()
    return tuple(int(many) for many in np.histogram(known, bins=bins)[0])
