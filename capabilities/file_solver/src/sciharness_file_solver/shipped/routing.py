"""A surrogate where its measured error allows it, the solver everywhere else."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from sciharness_file_solver.shipped.calling import Answer, SolverFailed, processors, solve
from sciharness_publisher.inference.protocol import (
    Columns,
    Failed,
    Predict,
    Refused,
    Table,
    check_domain,
    read_model,
)

BUNDLE = "solver.tar"
HEADER = "sample_id,prediction,lower,upper,in_domain,routed\n"
MODEL, SOLVER = "model", "solver"
Build = Callable[[dict[str, Any]], Predict]


def main_hybrid(arguments: Sequence[str] | None, build: Build) -> int:
    """Predict one file; ``build`` turns the surrogate into a function on columns."""
    parser = argparse.ArgumentParser(
        description="Predict every row of a table by a surrogate or, where it may not, the solver."
    )
    for name in ("model", "input", "output"):
        parser.add_argument(f"--{name}", required=True, metavar="FILE")
    parser.add_argument(
        "--solver-root", metavar="FOLDER", help="folder of the solver; default: solver.tar"
    )
    options = parser.parse_args(arguments)
    output = Path(options.output)
    part = output.with_name(f"{output.name}.{os.getpid()}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="hybrid-") as scratch:
            hybrid = Hybrid(Path(options.model), options.solver_root, Path(scratch), build)
            with (
                open(options.input, "rb") as source,
                open(part, "w", encoding="utf-8", newline="") as sink,
            ):
                hybrid.predict_table(source, sink)
        os.replace(part, output)
    except Refused as refusal:
        print(f"inference.py: {refusal}", file=sys.stderr)
        return refusal.exit_code
    except OSError as error:
        print(f"inference.py: {error.strerror}: {error.filename}", file=sys.stderr)
        return 3
    finally:
        part.unlink(missing_ok=True)
    print(f"routed: {hybrid.routed[MODEL]} to the model, {hybrid.routed[SOLVER]} to the solver")
    return 0


class Hybrid:
    """A surrogate, the policy of where it may answer, and the solver for the rest."""

    def __init__(self, path: Path, root: str | None, scratch: Path, build: Build) -> None:
        self._beside, self._scratch = path.parent, scratch
        self._model = read_model(path)
        if self._model.get("kind") != "hybrid":
            raise Refused(f"model: unknown kind {self._model.get('kind')!r}")
        self._predict = build(self._model["surrogate"])
        self._root = Path(root) if root else None
        self._ready = False
        self._piece = 0
        self.routed = {MODEL: 0, SOLVER: 0}

    def predict_table(self, source: BinaryIO, sink: TextIO) -> None:
        """Read ``source`` piece by piece and write one line per row to ``sink``."""
        model = self._model
        table = Table(source, [column["name"] for column in model["columns"]])
        sink.write(HEADER)
        for first, names, columns in table.pieces():
            inside = check_domain(model, columns, first, len(names))
            values, bounds, answered = self._values(columns, inside, first)
            lines = zip(
                names,
                *(map(repr, part.tolist()) for part in (values, values - bounds, values + bounds)),
                np.where(inside, "1", "0").tolist(),
                np.where(answered, MODEL, SOLVER).tolist(),
                strict=True,
            )
            sink.write("".join(",".join(line) + "\n" for line in lines))
        table.check_names_are_unique()

    def _values(
        self, columns: Columns, inside: np.ndarray, first: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return predictions, their error bounds (0 for the solver's) and who gave them."""
        model = self._model
        by_symbol = {column["symbol"]: columns[column["name"]] for column in model["columns"]}
        bounds = region_bounds(model["policy"], list(by_symbol.values()), len(inside))
        answered = inside & (bounds <= model["policy"]["tolerance"])
        values = np.full(len(inside), np.nan)
        if answered.any():
            with np.errstate(all="ignore"):
                values[answered] = self._predict(
                    {name: column[answered] for name, column in by_symbol.items()}
                )
        answered &= np.isfinite(values)
        asked = np.flatnonzero(~answered)
        if asked.size:
            values[asked] = self._solved(columns, asked, first)
        bounds[asked] = 0.0
        self.routed[MODEL] += int(answered.sum())
        self.routed[SOLVER] += int(asked.size)
        return values, bounds, answered

    def _solved(self, columns: Columns, asked: np.ndarray, first: int) -> np.ndarray:
        solver = self._model["solver"]
        rows = np.stack([columns[name][asked] for name in solver["inputs"]], axis=1).tolist()
        self._piece += 1
        place = self._scratch / f"piece{self._piece}"
        try:
            answers = solve(solver, self._folder(), place, rows, processors())
        except SolverFailed as fault:
            raise Failed(f"row {first + asked[0] + 1}: the solver failed: {fault}") from fault
        output = solver["outputs"].index(self._model["target"]["name"])
        found = np.empty(len(rows))
        for place_in, (row, answer) in enumerate(zip(asked, answers, strict=True)):
            found[place_in] = self._number(answer, output, first + int(row))
        return found

    def _number(self, answer: Answer | None, output: int, row: int) -> float:
        if answer is None or isinstance(answer, str):
            raise Failed(f"row {row + 1}: the solver failed: {answer}")
        return answer[output]

    def _folder(self) -> Path:
        """Return the solver's folder after every file in it was compared with the model."""
        if self._root is None:
            self._root = self._scratch / "bundle"
            unpack_bundle(self._beside / BUNDLE, self._root)
        if not self._ready:
            check_files(self._root, self._model["solver"]["files"])
            self._ready = True
        return self._root


def region_bounds(policy: Mapping[str, Any], columns: Sequence[np.ndarray], rows: int) -> Any:
    """Return the error bound of the region that each row lies in, shape (rows,).

    Regions are the leaves of a tree: a value up to the threshold goes to the
    next node, any other to the node ``right``. A leaf without a bound is one
    where too few cases were measured.
    """
    feature = np.array(policy["feature"], dtype=np.intp)
    threshold = np.array(policy["threshold"], dtype=np.float64)
    right = np.array(policy["right"], dtype=np.intp)
    measured = [np.inf if bound is None else bound for bound in policy["bound"]]
    node = np.zeros(rows, dtype=np.intp)
    table = np.stack(columns, axis=1) if columns else np.empty((rows, 0))
    every = np.arange(rows)
    while (inner := feature[node] >= 0).any():
        at = node[inner]
        goes_right = table[every[inner], feature[at]] > threshold[at]
        node[inner] = np.where(goes_right, right[at], at + 1)
    return np.array(measured, dtype=np.float64)[node]


def unpack_bundle(archive: Path, folder: Path) -> None:
    """Write the plain files of an archive below the new folder ``folder``; nothing else is."""
    try:
        with tarfile.open(archive, "r:") as members:
            for member in members:
                parts = Path(member.name).parts
                if not member.isreg() or member.name.startswith("/") or ".." in parts:
                    raise Refused(f"{archive.name}: {member.name!r} is no plain file of a folder")
                target = folder.joinpath(*parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                content = members.extractfile(member)
                assert content is not None  # it is a regular file
                with open(target, "xb") as sink:
                    while chunk := content.read(1 << 20):
                        sink.write(chunk)
    except (OSError, tarfile.TarError) as error:
        raise Refused(
            f"{archive.name}: the solver that rows outside the measured regions need cannot be "
            f"read ({error}); keep it beside model.json or name its folder by --solver-root"
        ) from error


def check_files(root: Path, files: Mapping[str, str]) -> None:
    """Compare every file of a solver with the digests that the model was made with."""
    found = dict(_digests(root))
    for name in sorted({*found, *files}):
        if found.get(name) != files.get(name):
            raise Refused(f"solver: {name!r} is not the file that the surrogate was made from")


def _digests(root: Path) -> Iterator[tuple[str, str]]:
    for above, _, names in os.walk(root):
        for name in names:
            path = Path(above, name)
            with open(path, "rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            yield path.relative_to(root).as_posix(), digest
