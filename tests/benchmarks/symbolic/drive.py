"""Run benchmark problems and add one row each to a table; rows that are there are not run again.

python tests/benchmarks/symbolic/drive.py development --seconds 20
python tests/benchmarks/symbolic/drive.py everyday --engine operon gplearn portfolio
python tests/benchmarks/symbolic/drive.py feynman --noise 0 --units --sample 40
python tests/benchmarks/symbolic/drive.py development --engine portfolio-merged portfolio-growth
python tests/benchmarks/symbolic/drive.py --show

Each problem runs in a process of its own that is ended when it hangs, so a
driver that is interrupted goes on where it was. `--table` takes another table
than the committed one, `--with` sets fields of the search's request. The engine
`portfolio-PART` is the portfolio without a part: a stage of the laws, growth or operon.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from problems import MEASURED, SYNTHETIC, everyday, suite

HERE = Path(__file__).parent
TABLE = HERE / "results.csv"
KEY = ("engine", "suite", "problem", "noise", "seed", "units", "budget")
COLUMNS = (
    *KEY, "recovered", "test_error", "r2", "size", "seconds", "search_seconds", "cpu_seconds",
    "stopped", "why", "formula",
)  # fmt: skip
GRACE = 90.0  # seconds for the judge and for an engine that ends late

Row = dict[str, Any]  # Any: JSON values and CSV texts


def main(arguments: list[str]) -> int:
    """Run what is missing, or show the table."""
    asked = _parser().parse_args(arguments)
    if asked.show:
        show(asked.table)
        return 0
    done = {tuple(row[name] for name in KEY) for row in rows_of(asked.table)}
    for row in chosen(list(wanted(asked)), asked.sample)[: asked.limit]:
        key = tuple(str(row[name]) for name in KEY)
        if asked.again or key not in done:
            row |= measured(row, json.loads(asked.options))
            add(asked.table, row)
            done.add(key)
            print(
                f"{row['engine']:9} {row['suite']}/{row['problem']} noise {row['noise']}"
                f" {'FOUND' if str(row['recovered']) == '1' else '-----'} {row['why']}"
                f" | {row['seconds']} s, {row['cpu_seconds']} s CPU | {row['formula'][:90]}",
                flush=True,
            )
    return 0


def chosen(rows: list[Row], count: int | None) -> list[Row]:
    """Return a seeded choice of settings in their order; all without a count."""
    if count is None or count >= len(rows):
        return rows
    kept = set(random.Random(0).sample(range(len(rows)), count))
    return [row for place, row in enumerate(rows) if place in kept]


def wanted(asked: argparse.Namespace) -> Iterator[Row]:
    """Yield the settings that were asked for, without results."""
    for engine in asked.engine:
        for seed in range(asked.seeds):
            for name, problem, noise, has_units in _settings(asked):
                if asked.units and not has_units:
                    continue
                yield {
                    "engine": engine,
                    "suite": name,
                    "problem": problem,
                    "noise": noise,
                    "seed": seed,
                    "units": int(asked.units),
                    "budget": asked.seconds,
                }


def _settings(asked: argparse.Namespace) -> Iterator[tuple[str, str, float, bool]]:
    if asked.suite == "everyday":
        for problem, noise in everyday():
            yield problem.suite, problem.name, noise, bool(problem.unit)
        return
    for problem in suite(asked.suite):
        for noise in problem.noises:
            if asked.noise is None or noise in asked.noise:
                yield problem.suite, problem.name, noise, bool(problem.unit)


def measured(row: Row, options: Row) -> Row:
    """Return the results of one setting; one that fails or hangs is a row as well."""
    text = json.dumps(
        row | {"seconds": row["budget"], "units": bool(row["units"]), "options": options}
    )
    with subprocess.Popen(
        [sys.executable, str(HERE / "one.py"), text],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as child:
        try:
            out, err = child.communicate(timeout=3 * row["budget"] + GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            return _failed("ended: it took three times its seconds")
    if child.returncode:
        return _failed("failed: " + err.strip().rpartition("\n")[2][:200])
    return dict(json.loads(out.strip().rpartition("\n")[2]))


def _failed(why: str) -> Row:
    empty = dict.fromkeys(COLUMNS[len(KEY) :], "")
    return empty | {"recovered": 0, "why": why}


def rows_of(table: Path) -> list[Row]:
    """Return the rows of a table, none where there is no table."""
    if not table.exists():
        return []
    with table.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def add(table: Path, row: Row) -> None:
    """Write the table again with one row more, in the order of the keys; never half."""
    rows = [old for old in rows_of(table) if any(str(row[name]) != old[name] for name in KEY)]
    rows.append({name: str(row[name]) for name in COLUMNS})
    rows.sort(key=lambda one: [one[name] for name in KEY])
    new = table.with_suffix(".new")
    with new.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    new.replace(table)


def show(table: Path) -> None:
    """Print one line per engine, suite, noise and units."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows_of(table):
        key = (row["suite"], row["noise"], "units" if row["units"] == "1" else "", row["engine"])
        groups.setdefault((*key, row["budget"]), []).append(row)
    print(
        f"{'suite':12} {'noise':6} {'':6} {'engine':10} {'budget':7} found     R2>.999"
        f"  size      s  search"
    )
    for key, rows in sorted(groups.items()):
        found = [row for row in rows if row["recovered"] == "1"]
        close = sum(float(row["r2"] or "-inf") > 0.999 for row in rows)
        sizes = [int(row["size"]) for row in rows if row["size"]]
        seconds = [float(row["seconds"]) for row in found]
        searching = [float(row["search_seconds"]) for row in found if row["search_seconds"]]
        print(
            f"{key[0]:12} {key[1]:6} {key[2]:6} {key[3]:10} {key[4]:7}"
            f"{len(found):4} of {len(rows):3} {100 * close / len(rows):6.0f} %"
            f" {statistics.median(sizes or [0]):5.0f} {statistics.median(seconds or [0]):6.1f}"
            f" {statistics.median(searching or [0]):6.1f}"
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "suite", nargs="?", default="everyday", choices=(*SYNTHETIC, MEASURED, "everyday")
    )
    parser.add_argument("--engine", nargs="+", default=["portfolio"])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--noise", type=float, nargs="+")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--sample", type=int, help="only a seeded choice of so many settings")
    parser.add_argument("--units", action="store_true", help="tell the search the units")
    parser.add_argument("--again", action="store_true", help="also run what the table holds")
    parser.add_argument("--with", dest="options", default="{}", help="JSON of request fields")
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--show", action="store_true", help="print a summary of the table")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
