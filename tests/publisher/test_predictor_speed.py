"""A predictor on a million rows costs no more than numpy's own reader and writer."""

from __future__ import annotations

import statistics
import subprocess
import sys

import numpy as np
import pytest

from sciharness.plugin import Context
from sciharness_publisher.predictor import Card, Column, FormulaModel, write_predictor

NUMPY = """
import numpy as np, sys
a, b, c, d = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1, usecols=(1, 2, 3, 4)).T
values = 1.5 * a * b + np.sin(c) / (2.0 + d**2)
np.savetxt(sys.argv[2], np.column_stack([np.arange(len(a)), values]), delimiter=",")
"""
ROUNDS = 3


@pytest.mark.slow
def test_a_million_rows_cost_no_more_cpu_than_loadtxt_and_savetxt(tmp_path):
    columns = tuple(Column(name, name, -9.0, 9.0) for name in "abcd")
    model = FormulaModel("y", columns, "1.5*a*b + sin(c)/(2.0 + d**2)")
    write_predictor(Context(inputs={}, workspace=tmp_path), model, Card("0" * 64, 0))
    folder, table = tmp_path / "outputs", tmp_path / "input.csv"
    random = np.random.default_rng(0)
    with table.open("w") as stream:
        stream.write("sample_id,a,b,c,d\n")
        for start in range(0, 1_000_000, 10_000):
            rows = random.normal(size=(10_000, 4)).tolist()
            stream.writelines(
                f"{i},{a!r},{b!r},{c!r},{d!r}\n" for i, (a, b, c, d) in enumerate(rows, start)
            )
    ours = [sys.executable, "-I", str(folder / "inference.py"), "--model",
            str(folder / "model.json"), "--input", str(table), "--output"]  # fmt: skip
    numpys = [sys.executable, "-I", "-c", NUMPY, str(table)]

    spent = [(cpu([*ours, str(tmp_path / "o")]), cpu([*numpys, str(tmp_path / "n")]))
             for _ in range(ROUNDS)]  # fmt: skip

    mine, theirs = zip(*spent, strict=True)
    seconds = [statistics.median(one for one, _ in side) for side in (mine, theirs)]
    assert seconds[0] <= 1.1 * seconds[1]
    assert max(peak for _, peak in mine) < 200 * 1024  # KiB; all texts would take 400 MB


# A small process starts the command: a child's peak counts from its parent's size on.
LAUNCHER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


def cpu(command):
    """Return (CPU seconds, peak memory in KiB) of a command; interleaved by the caller."""
    launcher = [sys.executable, "-I", "-c", LAUNCHER, *command]
    done = subprocess.run(launcher, check=True, capture_output=True, text=True)
    seconds, peak = done.stdout.split()
    return float(seconds), int(peak)
