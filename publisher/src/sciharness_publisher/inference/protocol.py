"""Predictor by file-predictor-v1: strict CSV in, one prediction per row out.

    python inference.py --model model.json --input INPUT.csv --output OUTPUT.csv

INPUT is UTF-8 without a byte order mark, comma separated, LF line ends, with a
header row; columns are found by name, others are ignored; an optional column
``sample_id`` names the rows. Rows are read, checked and predicted in pieces, so
memory does not grow with the file. Nothing is written unless every row could be
predicted. Exit code 0; 3 when input or model is refused; 1 when a prediction fails.
"""

from __future__ import annotations

import argparse
import csv
import difflib
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

PIECE_BYTES = 1 << 22
PIECE_ROWS = 1 << 15
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

Columns = Mapping[str, np.ndarray]
Predict = Callable[[Columns], np.ndarray]


class Refused(Exception):
    """Input or model is not what it has to be; says where and why."""

    exit_code = 3


class Failed(Refused):
    """The model has no finite prediction for a row."""

    exit_code = 1


def main(arguments: Sequence[str] | None, build: Callable[[dict[str, Any]], Predict]) -> int:
    """Predict one file; ``build`` turns the model into a function on columns."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name in ("model", "input", "output"):
        parser.add_argument(f"--{name}", required=True, metavar="FILE")
    options = parser.parse_args(arguments)
    output = Path(options.output)
    part = output.with_name(f"{output.name}.{os.getpid()}.part")
    try:
        model = read_model(Path(options.model))
        with (
            open(options.input, "rb") as source,
            open(part, "w", encoding="utf-8", newline="") as sink,
        ):
            predict_table(model, build(model), source, sink)
        os.replace(part, output)
    except Refused as refusal:
        print(f"inference.py: {refusal}", file=sys.stderr)
        return refusal.exit_code
    except OSError as error:
        print(f"inference.py: {error.strerror}: {error.filename}", file=sys.stderr)
        return 3
    finally:
        part.unlink(missing_ok=True)
    return 0


def read_model(path: Path) -> dict[str, Any]:
    """Return the model as plain values."""
    try:
        model = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Refused(f"{path.name}: not JSON: {error}") from error
    if not isinstance(model, dict) or model.get("schema") != "predictor-model-v1":
        raise Refused(f"{path.name}: expected a model of schema predictor-model-v1")
    return model


def predict_table(model: dict[str, Any], predict: Predict, source: BinaryIO, sink: TextIO) -> None:
    """Read ``source`` piece by piece and write one line per row to ``sink``."""
    table = Table(source, [column["name"] for column in model["columns"]])
    sink.write(",".join(["sample_id", *output_columns(model), "in_domain"]) + "\n")
    for first, names, columns in table.pieces():
        inside = check_domain(model, columns, first, len(names))
        by_symbol = {column["symbol"]: columns[column["name"]] for column in model["columns"]}
        with np.errstate(all="ignore"):
            values = np.asarray(predict(by_symbol))
        if values.ndim == 0:  # a formula without columns
            values = np.full(len(names), values)
        if not np.isfinite(values).all():
            raise Failed(describe_failure(values, columns, first))
        flags = np.where(inside, "1", "0").tolist()
        lines = map(",".join, zip(names, *output_texts(model, values), flags, strict=True))
        sink.write("\n".join(lines) + "\n")
    table.check_names_are_unique()


def output_columns(model: dict[str, Any]) -> list[str]:
    """Return the names of the columns between sample_id and in_domain."""
    if model["task"] == "classification":
        return ["prediction", "probability"]
    return ["prediction", "lower", "upper"] if model.get("interval") else ["prediction"]


def output_texts(model: dict[str, Any], values: np.ndarray) -> list[Iterable[str]]:
    """Return the fields of these columns for rows of values."""
    if model["task"] == "classification":
        chances = probabilities(model["link"], values)
        classes = [_quote(str(name)) for name in model["target"]["classes"]]
        shown = chances[:, 1] if len(classes) == 2 else chances.max(axis=1)
        best = chances.argmax(axis=1).tolist()
        return [[classes[place] for place in best], map(repr, shown.tolist())]
    parts = [values]
    if interval := model.get("interval"):
        parts += [values - interval["half_width"], values + interval["half_width"]]
    return [map(repr, part.tolist()) for part in parts]


def probabilities(link: str, values: np.ndarray) -> np.ndarray:
    """Return probabilities (rows, classes) of what a model gives, shape (rows, outputs).

    One output stands for the second of two classes: its probability, or what
    a ``sigmoid`` makes one of. More outputs are those of all classes:
    probabilities, or what a ``softmax`` makes some of.
    """
    if link == "sigmoid":
        with np.errstate(over="ignore"):
            values = 1.0 / (1.0 + np.exp(-values))
    elif link == "softmax":
        values = np.exp(values - values.max(axis=1, keepdims=True))
        values = values / values.sum(axis=1, keepdims=True)
    elif link != "probability":
        raise Refused(f"model: unknown link {link!r}")
    if values.shape[1] == 1:
        values = np.concatenate([1.0 - values, values], axis=1)
    return np.asarray(np.clip(values, 0.0, 1.0))


def check_domain(model: dict[str, Any], columns: Columns, first: int, rows: int) -> np.ndarray:
    """Return which rows lie inside the ranges of the training data; refuse if told to."""
    inside = np.ones(rows, dtype=bool)
    for column in model["columns"]:
        values = columns[column["name"]]
        good = (values >= column["min"]) & (values <= column["max"])
        if model["out_of_domain"] == "refuse" and not good.all():
            row = int(np.argmin(good))
            raise Refused(
                f"row {first + row + 1}, column {column['name']!r}: {float(values[row])!r} is "
                f"outside the training range {column['min']!r} .. {column['max']!r}"
            )
        inside &= good
    return inside


def describe_failure(values: np.ndarray, columns: Columns, first: int) -> str:
    """Name the first row without a finite prediction, and its inputs."""
    row = int(np.argmin(np.isfinite(values.reshape(len(values), -1)).all(axis=1)))
    inputs = ", ".join(f"{name}={float(column[row])!r}" for name, column in columns.items())
    return f"row {first + row + 1}: the model has no finite prediction there ({inputs})"


class Table:
    """A strict CSV file; yields the wanted columns as float64 arrays, piece by piece."""

    def __init__(self, source: BinaryIO, wanted: Sequence[str]) -> None:
        self._source = source
        head = source.readline()
        if head.startswith(b"\xef\xbb\xbf"):
            raise Refused("the input starts with a byte order mark; save it as plain UTF-8")
        self._quoted = b'"' in head  # then the header may span lines: read all by the csv module
        if self._quoted:
            source.seek(0)
            self._reader = _csv_reader(source)
            self._header = next(self._reader, [])
        else:
            self._header = _text(head, 1).rstrip("\n").split(",")
        self._places = _find_columns(self._header, wanted)
        self._id_place = self._header.index("sample_id") if "sample_id" in self._header else None
        self._row = 0
        self._hashes: list[np.ndarray] = []

    def pieces(self) -> Iterator[tuple[int, list[str], dict[str, np.ndarray]]]:
        """Yield (first row from 0, row names, columns by name)."""
        for names, columns in self._read():
            if self._id_place is None:
                names = list(map(str, range(self._row, self._row + len(names))))
            else:
                self._note(names)
                names = [_quote(name) for name in names] if self._quoted else names
            yield self._row, names, columns
            self._row += len(names)

    def check_names_are_unique(self) -> None:
        """Refuse a sample_id that occurs twice; call it after the last piece."""
        hashes = np.sort(np.concatenate(self._hashes)) if self._hashes else np.zeros(0)
        if not (hashes[1:] == hashes[:-1]).any():
            return
        self._source.seek(0)
        seen: dict[str, int] = {}
        for row, fields in enumerate(_csv_reader(self._source)):
            name = fields[self._id_place or 0]
            if row and name in seen:
                raise Refused(f"row {row}, column 'sample_id': {name!r} is also row {seen[name]}")
            seen[name] = row

    def _note(self, names: Sequence[str]) -> None:
        """Keep a hash of each row name: memory stays small, equal hashes are looked at again."""
        if "" in names:
            raise Refused(f"row {self._row + names.index('') + 1}, column 'sample_id': empty")
        self._hashes.append(np.fromiter(map(hash, names), np.int64, len(names)))

    def _read(self) -> Iterator[tuple[list[str], dict[str, np.ndarray]]]:
        """Yield row names (texts of any column if there is no sample_id) and columns."""
        rest = b""
        while not self._quoted:
            start = self._source.tell() - len(rest)
            block = self._source.read(PIECE_BYTES)
            whole, newline, rest = (rest + block).rpartition(b"\n") if block else (rest, b"", b"")
            if b'"' in whole or b'"' in rest:
                self._source.seek(start)
                self._reader = _csv_reader(self._source)
                self._quoted = True
                break
            if whole or newline:
                yield self._split(_text(whole, self._row + 2))
            if not block:
                return
        for fields in self._quoted_fields():
            yield self._convert(fields)

    def _split(self, text: str) -> tuple[list[str], dict[str, np.ndarray]]:
        width, lines = len(self._header), text.split("\n")
        commas = [line.count(",") for line in lines]
        if commas.count(width - 1) != len(lines):
            row = next(i for i, count in enumerate(commas) if count != width - 1)
            self._refuse_width(self._row + row, commas[row] + 1)
        if not any(mark in text for mark in " \t"):  # loadtxt would strip blanks
            columns = self._parse(lines)
            if columns is not None:
                place = self._id_place or 0
                return [line.split(",", place + 1)[place] for line in lines], columns
        flat = ",".join(lines).split(",")
        return self._convert([flat[place::width] for place in range(width)])

    def _parse(self, lines: list[str]) -> dict[str, np.ndarray] | None:
        """Return the columns by numpy's own reader, or None to look at every field."""
        if not self._places or "" in lines:
            return None
        try:
            values = np.loadtxt(
                lines, delimiter=",", comments=None, usecols=list(self._places.values()), ndmin=2
            )
        except ValueError:
            return None
        columns = dict(zip(self._places, np.ascontiguousarray(values.T), strict=True))
        return columns if np.isfinite(values).all() else None

    def _convert(self, fields: list[Sequence[str]]) -> tuple[list[str], dict[str, np.ndarray]]:
        columns = {name: _numbers(fields[at], name, self._row) for name, at in self._places.items()}
        return list(fields[self._id_place or 0]), columns

    def _quoted_fields(self) -> Iterator[list[Sequence[str]]]:
        rows: list[list[str]] = []
        try:
            for row in self._reader:
                if len(row) != len(self._header):
                    self._refuse_width(self._row + len(rows), len(row))
                rows.append(row)
                if len(rows) == PIECE_ROWS:
                    yield list(zip(*rows, strict=True))
                    rows = []
        except csv.Error as error:
            raise Refused(f"row {self._row + len(rows) + 1}: {error}") from error
        except UnicodeDecodeError as error:
            raise Refused(f"after row {self._row + len(rows)}: not UTF-8") from error
        if rows:
            yield list(zip(*rows, strict=True))

    def _refuse_width(self, row: int, found: int) -> None:
        raise Refused(f"row {row + 1}: {found} fields, the header has {len(self._header)}")


def _csv_reader(source: BinaryIO) -> Iterator[list[str]]:
    return csv.reader(io.TextIOWrapper(source, encoding="utf-8", newline=""), strict=True)


def _text(block: bytes, line: int) -> str:
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError as error:
        at = line + block.count(b"\n", 0, error.start)
        raise Refused(f"line {at}: not UTF-8") from error
    if "\r" in text:
        at = line + text.count("\n", 0, text.index("\r"))
        raise Refused(f"line {at}: carriage return found; lines have to end in LF alone")
    return text


def _find_columns(header: Sequence[str], wanted: Sequence[str]) -> dict[str, int]:
    for place, name in enumerate(header):
        if name in header[:place]:
            raise Refused(f"header: column {name!r} occurs twice")
    for name in wanted:
        if name not in header:
            near = difflib.get_close_matches(name, header, 1)
            also = f", nearest is {near[0]!r}" if near else ""
            raise Refused(f"header: column {name!r} is missing{also}; found {', '.join(header)}")
    return {name: header.index(name) for name in wanted}


def _numbers(texts: Sequence[str], column: str, first: int) -> np.ndarray:
    """Return the texts as finite float64; underscores, blanks and other scripts are no numbers."""
    joined = "".join(texts)
    plain = joined.isascii() and not any(mark in joined for mark in "_ \t")
    try:
        values = np.fromiter(map(float, texts), np.float64, len(texts)) if plain else None
    except ValueError:
        values = None
    if values is None or not np.isfinite(values).all():
        values = np.array([_number(text, column, first + row) for row, text in enumerate(texts)])
    return values


def _number(text: str, column: str, row: int) -> float:
    if NUMBER.fullmatch(text) and np.isfinite(float(text)):
        return float(text)
    found = f"found {text!r}" if text else "the field is empty"
    raise Refused(f"row {row + 1}, column {column!r}: expected a finite number, {found}")


def _quote(name: str) -> str:
    if not any(mark in name for mark in ',"\n\r'):
        return name
    return '"' + name.replace('"', '""') + '"'
