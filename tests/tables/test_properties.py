"""Random tables in random dialects: nothing is lost, nothing leaks, nothing else is raised."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sciharness.contract.records import ContractInput, Holdout
from sciharness.errors import DataError
from sciharness.plugin import Input
from sciharness.problems import Problem
from sciharness.tables import check_table, prepare_labelled, read_table
from sciharness.tables.blocks import blocks
from sciharness.tables.findings import Findings
from sciharness.tables.marks import _walk, find_marks
from sciharness.tables.records import Dialect

NUMBERS = st.one_of(
    st.floats(-1e6, 1e6).map(repr),
    st.integers(-999, 999).map(str),
    st.sampled_from(["1e-3", "+1.5", ".5", "1.", "2E+05", "-0", "007"]),
)
NOTES = st.text(st.sampled_from('abc;,\t"\n é|.\r5'), max_size=8).map(
    lambda text: text.replace("\r", "\r\n")
)


@frozen
class Written:
    """A table as bytes, with what was put in."""

    header: bytes
    rows: list[bytes]
    values: list[tuple[float, float, float]]
    delimiter: str
    tail: bytes

    @property
    def content(self) -> bytes:
        return self.header + b"".join(self.rows) + self.tail


@st.composite
def tables(draw: st.DrawFn) -> Written:
    count = draw(st.integers(25, 60))
    delimiter, decimal = draw(
        st.sampled_from([(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ",")])
    )
    end = draw(st.sampled_from(["\n", "\r\n"]))
    order = draw(st.permutations(["sample_id", "a [m]", "b", "note", "y"]))
    quote_all = draw(st.booleans())

    def field(text: str, number: bool) -> str:
        if number:
            text = text.replace(".", decimal)
            padding = draw(st.sampled_from(["", "", " "]))
            if quote_all:
                return f'"{text}"'
            return padding + text + padding
        if quote_all or any(mark in text for mark in f'{delimiter}"\n\r') or text != text.strip():
            return '"' + text.replace('"', '""') + '"'
        return text

    rows, values = [], []
    for row in range(count):
        a, b = draw(NUMBERS), draw(NUMBERS)
        y = repr(row * 1.25)
        cells = {"sample_id": f"s{row}", "a [m]": a, "b": b, "note": draw(NOTES), "y": y}
        fields = [field(cells[name], name in ("a [m]", "b", "y")) for name in order]
        rows.append((delimiter.join(fields) + end).encode())
        values.append((float(a), float(b), float(y)))
    # Proof of the decimal mark, whatever was drawn.
    proof = {"sample_id": "last", "a [m]": "0.5", "b": "0.25", "note": "", "y": "-0.125"}
    fields = [field(proof[name], name in ("a [m]", "b", "y")) for name in order]
    rows.append((delimiter.join(fields) + end).encode())
    values.append((0.5, 0.25, -0.125))
    if draw(st.booleans()):
        rows[-1] = rows[-1].removesuffix(end.encode())
    tail = b"" if not rows[-1].endswith(b"\n") else draw(st.sampled_from([b"", b"\n", b"\r\n\n"]))
    bom = draw(st.sampled_from(["", "\ufeff"]))
    header = (bom + delimiter.join(order) + end).encode()
    return Written(header, rows, values, delimiter, tail)


HOLDOUTS = st.builds(
    Holdout,
    mode=st.sampled_from(["fraction", "order", "none"]),
    fraction=st.sampled_from([0.2, 0.25, 0.4]),
    seed=st.integers(0, 99),
    verification=st.sampled_from([None, 0.2]),
)


def spec(**fields: Any) -> ContractInput:
    return ContractInput(
        "data", "data.csv", "labelled_table", target="y", ignore=("note",), **fields
    )


@given(tables(), HOLDOUTS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_split_loses_no_row_and_mixes_no_row(written: Written, holdout: Holdout) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "data.csv")
        source.write_bytes(written.content)

        prepared = prepare_labelled(source, spec(), holdout, Path(folder))

        final: dict[str, tuple[float, float, float]] = {}
        if prepared.final_inputs is not None and prepared.labels is not None:
            with prepared.final_inputs.open(newline="", encoding="utf-8") as one:
                inputs = list(csv.DictReader(one))
            with prepared.labels.open(newline="", encoding="utf-8") as one:
                labels = list(csv.DictReader(one))
            assert [row["sample_id"] for row in inputs] == [row["sample_id"] for row in labels]
            final = {
                row["sample_id"]: (float(row["a [m]"]), float(row["b"]), float(label["y"]))
                for row, label in zip(inputs, labels, strict=True)
            }
            assert set(inputs[0]) == {"sample_id", "a [m]", "b"}
        places = {int(name[1:]) if name != "last" else len(written.rows) - 1 for name in final}
        assert len(places) == prepared.rows_final
        for name, found in final.items():
            place = int(name[1:]) if name != "last" else -1
            assert found == written.values[place]
        taken = iter([row for place, row in enumerate(written.rows) if place not in places])
        assert prepared.train is not None
        shown = [prepared.train] + ([prepared.verification] if prepared.verification else [])
        texts = [path.read_bytes().removeprefix(written.header) for path in shown]
        assert all(path.read_bytes().startswith(written.header) for path in shown)
        if len(texts) == 1:
            assert texts[0] == b"".join(taken)
        else:
            assert sorted(b"".join(texts)) == sorted(b"".join(taken))
        arrays = read_table(
            Input("data", prepared.train, "DATASET", "labelled_table", prepared.table)
        )
        assert len(arrays.X) == prepared.rows_train


@given(tables())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_arrays_hold_what_was_written(written: Written) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "data.csv")
        source.write_bytes(written.content)
        checked = check_table(source, spec())

        assert checked.problems == ()
        arrays = read_table(Input("data", source, "DATASET", "labelled_table", checked.table))

        columns = {"a [m]": 0, "b": 1}
        places = [columns[name] for name in arrays.features]
        values = np.array(written.values)
        assert arrays.y is not None
        assert arrays.sample_id is not None
        assert (values[:, places] == arrays.X).all()
        assert (values[:, 2] == arrays.y).all()
        assert arrays.sample_id.tolist() == [f"s{i}" for i in range(len(values) - 1)] + ["last"]


def prepared_or_refused(
    source: Path, words: ContractInput, holdout: Holdout, out: Path
) -> tuple[tuple[Problem, ...], int]:
    try:
        return (), prepare_labelled(source, words, holdout, out).rows_final
    except DataError as refused:
        return refused.problems, 0


MUTATIONS = st.lists(
    st.tuples(
        st.integers(0, 10**6),
        st.sampled_from(["insert", "delete", "replace", "cut", "double"]),
        st.one_of(
            st.sampled_from([b'"', b"\n", b"\r", b",", b";", b"\0", b"\xff", b"\t", b"nan", b"-"]),
            st.binary(min_size=1, max_size=3),
        ),
    ),
    min_size=1,
    max_size=6,
)


def mutated(content: bytes, changes: list[tuple[int, str, bytes]]) -> bytes:
    for where, how, what in changes:
        place = where % (len(content) + 1)
        head, tail = content[:place], content[place:]
        content = {
            "insert": head + what + tail,
            "delete": head + tail[len(what) :],
            "replace": head + what + tail[len(what) :],
            "cut": head,
            "double": head + tail + tail,
        }[how][:20_000]
    return content


@given(tables(), MUTATIONS, HOLDOUTS, st.sampled_from(["regression", "classification"]),
       st.sampled_from(["refuse", "drop"]), st.booleans())  # fmt: skip
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_table_gives_a_data_error_or_a_split(
    written: Written,
    changes: list[tuple[int, str, bytes]],
    holdout: Holdout,
    task: str,
    missing: str,
    named: bool,
) -> None:
    words = (
        spec(task=task, missing=missing)
        if named
        else ContractInput("data", "data.csv", "labelled_table", task=task, missing=missing)
    )
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "data.csv"), Path(folder, "out")
        out.mkdir()
        source.write_bytes(mutated(written.content, changes))
        checked = check_table(source, words, holdout)
        problems, rows_final = prepared_or_refused(source, words, holdout, out)

        assert checked.problems == problems
        assert checked.rows_final == rows_final
        assert bool(problems) != any(out.iterdir())


PIECES = st.lists(
    st.sampled_from(
        ['"', '""', ",", "\n", "\r\n", "a", "1.5", " ", '"a"', '",', ',"', '\n"', '"\n']
    ),
    max_size=25,
).map("".join)


@given(PIECES)
@settings(max_examples=300, deadline=None)
def test_quotes_are_found_alike_quickly_and_by_walking(text: str) -> None:
    data = text.encode()

    found, walked = find_marks(data, ","), _walk(data, ",")

    assert found.cut == walked.cut
    assert found.places.tolist() == walked.places.tolist()
    assert found.ends_record.tolist() == walked.ends_record.tolist()
    assert found.faults == walked.faults
    assert not (found.regular and walked.faults)


@given(st.lists(st.lists(NOTES, min_size=3, max_size=3), min_size=1, max_size=8))
@settings(max_examples=150, deadline=None)
def test_well_formed_quoting_is_read_as_python_reads_it(rows: list[list[str]]) -> None:
    import io

    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\n").writerows(rows)

    marks = find_marks(buffer.getvalue().encode(), ",")

    assert marks.cut == len(buffer.getvalue().encode())
    assert int(marks.ends_record.sum()) == len(rows)
    assert len(marks.places) == 3 * len(rows)


class Pieces:
    """A stream that gives its bytes in small pieces."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int) -> bytes:
        piece, self._data = self._data[:size], self._data[size:]
        return piece


@given(tables(), st.integers(1, 200))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_rows_do_not_depend_on_how_the_file_is_cut(written: Written, size: int) -> None:
    dialect = Dialect(("c",) * 5, len(written.header), written.delimiter)
    findings = Findings("data.csv")
    body = b"".join(written.rows) + written.tail

    found = list(blocks(Pieces(body), written.header, dialect, findings, size))

    assert findings.count == 0
    assert b"".join(block.source for block in found) == b"".join(written.rows)
    places = [block.offset + start for block in found for start in block.starts.tolist()]
    ends = np.cumsum([len(written.header), *map(len, written.rows)])
    assert places == ends[:-1].tolist()
    lines = [block.line_of(row) for block in found for row in range(block.rows)]
    breaks = np.cumsum([2, *(row.count(b"\n") for row in written.rows)])
    assert lines == breaks[:-1].tolist()
