"""Measure one setting in a process of its own: a JSON object in, a JSON row out."""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

import numpy as np
from engines import Setting, engine_named
from judge import judge
from problems import draw, suite

from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import complexity, render

Row = dict[str, Any]  # Any: JSON values


def measured(asked: Row) -> Row:
    """Return the row of one setting."""
    (problem,) = (one for one in suite(asked["suite"]) if one.name == asked["problem"])
    setting = Setting(
        problem,
        asked["noise"],
        asked["seed"],
        asked["seconds"],
        asked["units"],
        asked.get("options", {}),
    )
    data = draw(problem, setting.noise, setting.seed)
    before = _cpu()
    found = engine_named(asked["engine"])(setting, data)
    spent = _cpu() - before
    box = {name: (one.low, one.high) for name, one in problem.ranges.items()}
    verdict = judge(found.formula, problem.law, box, setting.noise)
    if found.fitted and not verdict.recovered:  # constants that became plain values were fitted
        as_fitted = judge(found.fitted, problem.law, box, setting.noise)
        verdict = as_fitted if as_fitted.recovered else verdict
    kept = {name: column[data.kept_back] for name, column in data.columns.items()}
    wanted = data.exact[data.kept_back]
    with np.errstate(all="ignore"):
        gap = np.broadcast_to(evaluate(found.formula, kept), wanted.shape) - wanted
        error = float(np.sqrt(np.mean(gap**2)) / wanted.std())
    return {
        "recovered": int(verdict.recovered),
        "test_error": f"{error:.3g}",
        "r2": f"{1 - error**2:.6f}",
        "size": complexity(found.formula),
        "seconds": f"{found.seconds:.1f}",
        "search_seconds": "" if found.searching is None else f"{found.searching:.1f}",
        "cpu_seconds": f"{spent:.1f}",
        "stopped": found.stopped,
        "why": verdict.why,
        "formula": render(found.formula)[:300],
    }


def _cpu() -> float:
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(one) for one in whose]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    row = measured(json.loads(sys.argv[1]))
    sys.stdout.write(json.dumps(row) + "\n")
