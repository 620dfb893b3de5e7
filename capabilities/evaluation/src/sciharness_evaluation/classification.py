"""The metrics of a classification, as they are defined for acceptance criteria."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from sciharness.errors import DataError
from sciharness_evaluation.columns import Columns, is_number
from sciharness_evaluation.measures import Measures, Measuring

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@frozen
class Classified:
    """True and predicted classes as positions in ``classes``, shape (n,), int64.

    ``probability`` (float64 in [0, 1]) is that of the second class, if given.
    """

    classes: tuple[str, ...]
    true: NDArray[np.int64]
    predicted: NDArray[np.int64]
    probability: NDArray[np.float64] | None


class _Codes:
    """Gives cells their class: by their text, or by their value if all classes are numbers."""

    def __init__(self, classes: Sequence[str]) -> None:
        self.classes = list(classes)
        texts = [name.encode() for name in classes]
        self._codes = {text: code for code, text in enumerate(texts)}
        self._values: dict[float, int] = {}
        if all(map(is_number, texts)) and len(set(map(float, texts))) == len(texts):
            self._values = {float(text): code for code, text in enumerate(texts)}

    def code(self, cell: bytes) -> int | None:
        """Return the class of a cell, or ``None`` if it is of none."""
        if cell not in self._codes and is_number(cell):
            return self._values.get(float(cell))
        return self._codes.get(cell)

    def add(self, cell: bytes) -> int:
        """Return the class of a cell, as a new one if it is of none."""
        code = self.code(cell)
        if code is None:
            code = self._codes[cell] = len(self.classes)
            self.classes.append(_text(cell))
        return code


def classify(
    predictions: Columns, labels: Columns, target: str, classes: Sequence[str]
) -> Classified:
    """Return true and predicted classes; ``classes`` are those known from training.

    A true class that training has not seen counts as one more class. Without
    known classes they are those of both columns, in sorted order.

    Raises:
        DataError: a predicted cell is no class, or a probability is not in [0, 1].
    """
    import numpy as np

    true_cells, cells = labels.column(target), predictions.column("prediction")
    codes = _Codes(classes or _found_classes(true_cells, cells))
    true = {cell: codes.add(cell) for cell in sorted(set(true_cells))}
    predicted = {cell: codes.code(cell) for cell in set(cells)}
    if strange := {cell for cell, code in predicted.items() if code is None}:
        raise _no_class(predictions, cells, strange)
    return Classified(
        tuple(codes.classes),
        np.array([true[cell] for cell in true_cells], dtype=np.int64),
        np.array([predicted[cell] for cell in cells], dtype=np.int64),
        _probability(predictions),
    )


def _text(cell: bytes) -> str:
    return cell.decode("utf-8", "replace")


def _found_classes(*columns: Sequence[bytes]) -> list[str]:
    return sorted({_text(cell) for cells in columns for cell in set(cells) if cell}, key=_in_order)


def _in_order(name: str) -> tuple[bool, float, str]:
    number = is_number(name.encode())
    return (not number, float(name) if number else 0.0, name)


def _no_class(predictions: Columns, cells: Sequence[bytes], strange: set[bytes]) -> DataError:
    rows = [row for row, cell in enumerate(cells) if cell in strange]
    first = ascii(_text(cells[rows[0]][:40]))
    return DataError(
        f"{len(rows)} of {predictions.rows} predictions are none of the classes; "
        f"the first, {first}, in data row {rows[0] + 1}.",
        where=predictions.file,
        hint="A predictor writes the names of classes as its model card lists them.",
    )


def _probability(predictions: Columns) -> NDArray[np.float64] | None:
    if "probability" not in predictions.cells:
        return None
    probability = predictions.numbers("probability")
    if probability.min() < 0 or probability.max() > 1:
        raise DataError("a probability is outside [0, 1]", where=predictions.file)
    return probability


def measure(rows: Classified) -> Measures:
    """Return the classification metrics of ``rows``, undefined ones with the reason."""
    import numpy as np

    count = len(rows.true)
    right = rows.true == rows.predicted
    present = np.unique(rows.true)
    one = f"only one class is present in the {count} true labels" if len(present) < 2 else ""
    binary = _why_not_binary(rows)
    measured = Measuring()
    measured.add("balanced_accuracy", lambda: _mean_recall(rows.true, right), one)
    measured.add("accuracy", lambda: int(right.sum()) / count)
    measured.add("auc", lambda: _auc(rows), binary or one)
    measured.add("brier", lambda: _brier(rows), binary)
    return measured.done()


def constant(rows: Classified, share: float) -> Classified:
    """Return ``rows`` as predicted by one who knows only the share of the second class."""
    import numpy as np

    predicted = np.full(len(rows.true), int(share > 0.5), dtype=np.int64)
    return evolve(rows, predicted=predicted, probability=np.full(len(rows.true), share))


def _why_not_binary(rows: Classified) -> str:
    if rows.probability is None:
        return "the predictions have no column 'probability'"
    if len(rows.classes) != 2:
        return f"there are {len(rows.classes)} classes, not two"
    return ""


def _mean_recall(true: NDArray[np.int64], right: NDArray[np.bool_]) -> float:
    import numpy as np

    counts = np.bincount(true)
    hits = np.bincount(true, weights=right)
    recalls = hits[counts > 0] / counts[counts > 0]
    return math.fsum(recalls.tolist()) / len(recalls)


def _auc(rows: Classified) -> float:
    import numpy as np

    assert rows.probability is not None
    second = rows.probability[rows.true == 1]
    first = np.sort(rows.probability[rows.true == 0])
    # Pairs are counted in integers, twice, so that a tie is exactly one half.
    wins = np.searchsorted(first, second, "left") + np.searchsorted(first, second, "right")
    return int(wins.sum()) / (2 * len(first) * len(second))


def _brier(rows: Classified) -> float:
    assert rows.probability is not None
    gaps = rows.probability - (rows.true == 1)
    return math.fsum((gaps * gaps).tolist()) / len(gaps)
