"""Predictions by a generated plugin, a wheel or a folder, in a child process of their own."""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import frozen

from sciharness.contract.artifact_types import PREDICTOR_FILES
from sciharness.errors import DataError, UsageError
from sciharness.generated.outside import outside_note
from sciharness.generated.packages import card_of, read_generated
from sciharness.runtime.inference import SOLVER_ARCHIVE, RowsRefusedError
from sciharness.runtime.inference import predict as run_predictor
from sciharness.store.home import Home

Card = dict[str, Any]  # Any: JSON values


@frozen
class Prediction:
    """What was predicted: by what, into which file, and what a person should know."""

    source: str
    output: Path
    notes: tuple[str, ...] = ()


def predict(
    home: Home, source: str, table: Path, out: Path, *, threads: int = 1, replace: bool = False
) -> Prediction:
    """Predict every row of a table and write OUTPUT of file-predictor-v1 to ``out``.

    ``source`` is an installed ID, a wheel with its attestation beside it, or a
    folder with the three files. A table in another dialect is converted first.
    ``replace`` lets a file at ``out`` give way.

    Raises:
        UsageError, DataError, IntegrityError: the source or the table is refused.
        ActionFailed: the predictor refused a row or ended badly.
    """
    check_out(out, replace)
    files = predictor_of(home, source)
    card = card_of(files, source)
    if not table.is_file():
        raise DataError("there is no such file", where=str(table))
    with scratch(home) as folder:
        rows, notes = strict_rows(table.resolve(), card, folder)
        predictor = lay_out(files, folder / "predictor")
        with refusals(table.name):
            output = run_predictor(predictor, rows, folder, threads=threads)
        notes += _routes(output.path) if SOLVER_ARCHIVE in files else []
        notes += outside_note(output.path)
        deliver(output.path, out, replace)
    return Prediction(source, out, tuple(notes))


def _routes(output: Path) -> list[str]:
    """Return how many rows a hybrid has answered itself, as a note."""
    with output.open(encoding="utf-8", newline="") as stream:
        ways = Counter(row.get("routed", "") for row in csv.DictReader(stream))
    return [f"routed: {ways['model']} rows to the model, {ways['solver']} to the solver"]


def predictor_of(home: Home, source: str) -> dict[str, bytes]:
    """Return a predictor's files, verified as its kind allows."""
    path = Path(source)
    if path.suffix == ".whl":
        found = read_generated(path)
        _refuse_adapter(found.wheel.files, found.package, source)
        return found.predictor()
    if path.is_dir():
        missing = [name for name in PREDICTOR_FILES if not (path / name).is_file()]
        if missing:
            raise DataError(
                f"has no {missing[0]}",
                where=source,
                hint="A predictor is a folder with model.json, inference.py and model_card.json.",
            )
        names = [*PREDICTOR_FILES, *([SOLVER_ARCHIVE] if (path / SOLVER_ARCHIVE).is_file() else [])]
        return {name: (path / name).read_bytes() for name in names}
    from sciharness.generated.installed import load
    from sciharness.generated.packages import predictor_files

    plugin_id, _, version = source.partition("==")
    package = load(home, plugin_id, version or None)
    _refuse_adapter(package.files, str(package.entry_point), source)
    return predictor_files(package.files, str(package.entry_point))


def _refuse_adapter(files: Mapping[str, bytes], package: str, source: str) -> None:
    from sciharness.generated.adapters import is_adapter  # it uses this module

    if is_adapter(files, package):
        raise UsageError(
            "is a solver adapter, no predictor",
            where=source,
            hint="Use it with `harness solve`.",
        )


def lay_out(files: Mapping[str, bytes], folder: Path) -> Path:
    """Write verified bytes into a private folder: what was checked is what runs."""
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


@contextmanager
def scratch(home: Home) -> Iterator[Path]:
    """Give a private folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="predict-", dir=home.temporary))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def refusals(name: str) -> Iterator[None]:
    """Make a predictor's refusal of a table one of the table ``name``.

    Raises:
        DataError: the predictor refused the table.
    """
    try:
        yield
    except RowsRefusedError as fault:
        said = fault.message.removeprefix("inference.py: ")
        raise DataError(said, where=name, hint="Correct the table, then predict again.") from fault


def strict_rows(table: Path, card: Card, folder: Path, name: str = "") -> tuple[Path, list[str]]:
    """Return a table as the predictor reads it: itself, if its header fits, else converted.

    Raises:
        DataError: a column of the card is missing; the hint names the columns there are.
    """
    name = name or table.name
    features = [column["name"] for column in card["columns"]]
    header = None if name.lower().endswith(".parquet") else strict_header(table)
    if header is None:
        from sciharness.tables import prepare_inputs  # most tables are strict

        converted = prepare_inputs(table, features, folder, name)
        return converted, [f"{name} was converted to strict CSV first"]
    missing = [name for name in features if name not in header]
    if missing:
        raise DataError(
            f"missing columns: {', '.join(missing)}",
            where=name,
            hint=f"The predictor needs {', '.join(features)}; found {', '.join(header)}."
            + _meant(missing, [name for name in header if name not in features]),
        )
    with table.open("rb") as stream:
        if not (stream.readline(), stream.read(1))[1]:
            raise DataError("there are no rows below the header", where=name)
    extra = [name for name in header if name not in features and name != "sample_id"]
    return table, [f"not used: {', '.join(extra)}"] if extra else []


def _meant(missing: list[str], others: list[str]) -> str:
    """Return a guess at a column that was written another way."""
    for name in missing:
        for other in others:
            if "".join(other.split()).casefold() == "".join(name.split()).casefold():
                return f" Is {other!r} meant to be {name!r}?"
    return ""


def strict_header(table: Path) -> list[str] | None:
    """Return the column names of a strict CSV by its first line alone, ``None`` for others."""
    with table.open("rb") as stream:
        line = stream.readline(1_000_000)
    if line.startswith(b"\xef\xbb\xbf") or not line.endswith(b"\n") or line.endswith(b"\r\n"):
        return None
    try:
        text = line.decode("utf-8").rstrip("\n")
    except UnicodeDecodeError:
        return None
    if any(mark in text for mark in (";", "\t")) or ("," not in text and " " in text):
        return None
    names = next(csv.reader([text]), [])
    return names if len(set(names)) == len(names) and all(names) else None


def smoke_prediction(home: Home, files: Mapping[str, bytes]) -> None:
    """Predict one row in the middle of the valid domain.

    Raises:
        ActionFailed: the predictor does not answer.
    """
    card = card_of(files, "package")
    with scratch(home) as folder:
        rows = folder / "smoke.csv"
        with rows.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow([column["name"] for column in card["columns"]])
            writer.writerow([_middle(column) for column in card["columns"]])
        run_predictor(lay_out(files, folder / "predictor"), rows, folder)


def _middle(column: Mapping[str, Any]) -> str:  # Any: JSON values
    low, high = column.get("min"), column.get("max")
    if low is None or high is None:
        return "1.0"
    return repr((float(low) + float(high)) / 2.0)


def check_out(out: Path, replace: bool) -> None:
    """Refuse a place for a result that is a folder, or taken unless ``replace`` is set."""
    if out.is_dir():
        raise UsageError("is a folder", where=str(out), hint="Name the CSV file to write.")
    if os.path.lexists(out) and not replace:
        raise _exists(out)


def _exists(out: Path) -> UsageError:
    hint = "Choose another name, or replace it with --force."
    return UsageError("is there already", where=str(out), hint=hint)


def deliver(output: Path, out: Path, replace: bool) -> None:
    """Move the finished file to its place; it is complete or not there."""
    try:
        handle, partial = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
        os.close(handle)
        try:
            shutil.copyfile(output, partial)
            os.chmod(partial, 0o644)
            _place(partial, out, replace)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(partial)
    except FileExistsError as fault:
        raise _exists(out) from fault
    except OSError as fault:
        raise UsageError(
            f"cannot be written: {fault.strerror}", where=str(out), hint="Choose another place."
        ) from fault


def _place(partial: str, out: Path, replace: bool) -> None:
    if replace:
        os.replace(partial, out)
        return
    try:
        os.link(partial, out)  # fails if a file has come there in the meantime
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.replace(partial, out)
