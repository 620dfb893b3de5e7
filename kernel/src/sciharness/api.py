"""The Python side: run a contract and use what came out of it."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from sciharness.contract.artifact_types import PREDICTOR_FILES
from sciharness.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from sciharness.tables.predictions import Predictions

    Columns = Mapping[str, Sequence[float]]


def run(
    path: str | Path,
    *,
    home: str | Path | None = None,
    fresh: bool = False,
    workers: int | None = None,
    spend_holdout: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> Result:
    """Run the contract in the file ``path`` and return its result.

    As on the command line an unfinished run of the same contract is continued
    unless ``fresh`` is true. ``tell`` hears a line at each step. A run that
    misses its criteria is a result, not an error.

    Raises:
        HarnessError: the contract is refused, or a pin, the record or the holdout is;
            all problems are in ``problems`` and in the notes of a traceback.
    """
    from sciharness.runtime.control import Manner, carry_run
    from sciharness.runtime.create import create_run, unfinished_run
    from sciharness.store.home import Home

    contract = Path(path)
    with Home.open(Path(home) if home is not None else None) as opened, _told_in_full():
        run_id = None if fresh else unfinished_run(opened, contract, tell=tell)
        if run_id is None:
            run_id = create_run(opened, contract, tell=tell)
        manner = Manner(
            workers=workers or os.cpu_count() or 1,
            spend_holdout=spend_holdout,
            tell=tell,
            hidden=(contract.resolve().parent,),
        )
        carry_run(opened, run_id, manner)
        return _result(opened.path, run_id)


@contextmanager
def _told_in_full() -> Iterator[None]:
    """Add the problems of an error to its notes, which a traceback shows."""
    try:
        yield
    except HarnessError as error:
        for problem in error.problems:
            error.add_note(f"- {problem}")
        raise


def _result(home: Path, run_id: str) -> Result:
    from sciharness.runtime.looking import view_of
    from sciharness.store.home import Home

    with Home.open(home) as opened:
        view, _ = view_of(opened, run_id)
    return Result(home=home, view=view)


@frozen(repr=False)
class Result:
    """A run as it ended: the object that ``harness show --json`` prints, and its files.

    ``view`` is that object.
    """

    home: Path
    view: Mapping[str, Any]  # Any: JSON values

    @property
    def run_id(self) -> str:
        """The ID of the run."""
        return str(self.view["run_id"])

    @property
    def status(self) -> str:
        """How the run ended, such as ``succeeded`` or ``failed``."""
        return str(self.view["status"])

    @property
    def criteria(self) -> tuple[Mapping[str, Any], ...]:  # Any: JSON values
        """The verdicts, one mapping per criterion."""
        return tuple(self.view["criteria"])

    @property
    def metrics(self) -> Mapping[str, float]:
        """The newest value of each metric, trusted ones before others."""
        ranked = sorted(self.view["metrics"], key=lambda item: item["source"] == "trusted")
        return {item["name"]: item["value"] for item in ranked}

    @property
    def formulas(self) -> tuple[Mapping[str, Any], ...]:  # Any: JSON values
        """The candidates of the newest ``formulas.json``, the chosen one first; empty without.

        ``candidate`` is the position of each, as ``harness export --candidate`` takes it.
        """
        try:
            found = json.loads(self.artifact("formulas.json").read_text("utf-8"))
        except UsageError:
            return ()
        candidates = [{**item, "candidate": k} for k, item in enumerate(found["candidates"])]
        chosen = candidates.pop(found["chosen"])
        return (chosen, *candidates)

    @property
    def export(self) -> Path | None:
        """The folder of the export, or ``None``."""
        return Path(self.view["export"]) if self.view.get("export") else None

    def artifact(self, name: str) -> Path:
        """Return the newest artifact of this name as a file to read.

        Raises:
            UsageError: the run has none.
        """
        found = [item for item in self.view["artifacts"] if item["name"] == name]
        if not found:
            raise UsageError(f"the run has no artifact {name}", where=self.run_id)
        return Path(found[-1]["path"])

    def predict(self, table: Columns | str | Path) -> Predictions:
        """Return the prediction of the run's predictor for each row, shape (rows,).

        ``table`` is a mapping from feature names to columns of equal length, or
        a table file in any dialect. The unit is that of the target; a
        classifier gives class names. Rows outside the valid domain are
        predicted all the same.

        Raises:
            UsageError: the run made no predictor.
            DataError: a column is missing or holds anything but numbers.
            ActionFailed: the predictor refuses a row.
        """
        from sciharness.runtime.inference import predict
        from sciharness.tables import prepare_inputs, read_predictions

        card = json.loads(self.artifact("model_card.json").read_text("utf-8"))
        features = [column["name"] for column in card["columns"]]
        with tempfile.TemporaryDirectory(prefix="harness-predict-") as name:
            folder = Path(name)
            source = table if isinstance(table, str | Path) else _written(table, folder)
            rows = prepare_inputs(Path(source), features, folder)
            output = predict(self._predictor(folder / "predictor"), rows, folder).path
            return read_predictions(output, text=card["task"] == "classification")

    def __repr__(self) -> str:
        return f"Result({self.run_id}, {self.status})"

    def _repr_html_(self) -> str:
        from sciharness.notebook import html_of  # only where somebody looks

        return html_of(self)

    def _repr_markdown_(self) -> str:
        from sciharness.notebook import markdown_of

        return markdown_of(self)

    def _predictor(self, folder: Path) -> Path:
        folder.mkdir()
        for name in PREDICTOR_FILES:
            (folder / name).write_bytes(self.artifact(name).read_bytes())
        return folder


def _written(columns: Columns, folder: Path) -> Path:
    path = folder / "table.csv"
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise UsageError(f"columns differ in length: {lengths}", where="predict")
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path
