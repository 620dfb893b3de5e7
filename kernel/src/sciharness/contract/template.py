"""The commented contract that ``harness init`` writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sciharness.descriptors import Operation
from sciharness.errors import ContractError

_TABLES = frozenset({"labelled_table", "table", "DATASET"})
PIPELINE_GROUPS = ("analysis", "knowledge and verification", "report and visualisation")

_DEFAULT_CAPABILITIES = (
    "  - symbolic_regression.search    # formulas for the target, ranked",
    "  - evaluation.regression         # judges the chosen one on labels nothing else has seen",
    "  - reporting.write               # Markdown and HTML report",
)
_TRUSTED = (
    '  - {metric: relative_rmse, op: "<=", value: 0.05, trusted: true}',
    "  # trusted: only values from the sealed final labels count.",
)
_COMPLETION = (
    '  - {metric: task_completion, op: ">=", value: 1}    # all required artifacts are there',
    "  # With an evaluator and a capability that trains a predictor, a trusted criterion:",
    '  # - {metric: relative_rmse, op: "<=", value: 0.05, trusted: true}',
)

_TEXT = """\
# A research contract. `harness check FILE` looks at all of it, `harness run FILE` carries it out.
# Blank or missing fields take their defaults; the defaults are shown. `harness schema` lists all.
schema: research-contract-v1
title: A title of one line            # at most 120 characters
goal: >-
  What is to be found, in which range, and when it counts as found.
questions: []                         # one per entry; they guide, they do not judge

inputs:
  - name: data
    path: data.csv                    # relative to this file
    role: labelled_table              # a part of its rows is sealed for the final judgement
    task: regression                  # or classification
    # target: period                  # default: the last column that is not sample_id
    # features: [length, amplitude]   # default: all other columns
    # ignore: [note]                  # columns to leave aside; text columns have to be named
    # units: {{length: m, period: s}}   # or in the column names: `length [m]`

capabilities:                         # what this run may use, nothing else
{capabilities}

acceptance:                           # all have to hold
{acceptance}

# constraints:                        # rules for requests, by capability
#   symbolic_regression.search:
#     - {{when: {{}}, require: {{max_complexity: 20}}}}

workflow:                             # conditions beyond the criteria
  hypothesis_verification: false      # true runs leased capabilities that verify
  required_artifacts: [scientific_report]
  final_predictor: false

permissions:                          # only a person switches these on
  reuse_generated_code: false
  publish_plugins: false
  symbolic_baseline: false

budget:                               # blank: not limited
  actions: 20
  wall_time: 1h                       # 90s, 10m, 1h30m

holdout:                              # the final rows
  fraction: 0.2
  seed: 0
  max_queries: 1                      # predictors that may be judged by them
  # group: batch                      # a column whose values stay on one side

executor: local
reasoner: recipe                      # runs without any model
seed: 0
# steps:                              # default: each capability once; to say it yourself:
#   - {{id: fit, use: symbolic_regression.search, inputs: {{data: data}}}}
#   - {{id: judge, use: evaluation.regression, inputs: {{predictor: fit, data: data}}}}
"""


def template(operations: Iterable[Operation] = (), *, pipeline: bool = False) -> str:
    """Return the text of a contract to fill in; it parses as it stands.

    With ``pipeline`` it leases those of ``operations`` that analyse, verify
    and report. No permission is set in either case.

    Raises:
        ContractError: none of ``operations`` belongs to the pipeline.
    """
    if not pipeline:
        return _filled(_DEFAULT_CAPABILITIES, _TRUSTED)
    known = sorted(operations, key=lambda operation: operation.name)
    leased = [op for group in PIPELINE_GROUPS for op in known if op.group == group]
    if not leased:
        raise ContractError(
            "no installed capability analyses, verifies or reports",
            hint="Install one, or run `harness init` without --pipeline.",
        )
    lines = [_line(op) for op in leased if _takes_a_table(op)]
    lines += _left_out("Needs another input than a table:", leased, _takes_a_table)
    evaluators = [op for op in known if op.kind == "evaluator"]
    lines += _left_out("Not part of the pipeline, but needed for a trusted criterion:", evaluators)
    return _filled(lines, _COMPLETION)


def _takes_a_table(operation: Operation) -> bool:
    """Return whether an analysis can do with the one input of this contract."""
    needed = [set(one.types) for one in operation.inputs if not one.optional and one.types]
    return operation.group != "analysis" or all(types & _TABLES for types in needed)


def _left_out(
    why: str,
    operations: Sequence[Operation],
    is_leased: Callable[[Operation], bool] = lambda operation: False,
) -> list[str]:
    lines = [_line(op).replace("  - ", "  # - ", 1) for op in operations if not is_leased(op)]
    return [f"  # {why}", *lines] if lines else []


def _filled(capabilities: Sequence[str], acceptance: Sequence[str]) -> str:
    return _TEXT.format(capabilities="\n".join(capabilities), acceptance="\n".join(acceptance))


def _line(operation: Operation) -> str:
    # A summary is a plugin's text: kept to one line, it cannot leave its comment.
    summary = " ".join(operation.summary.split())
    shown = "".join(mark for mark in summary if mark.isprintable())[:60]
    return f"  - {operation.name:<29} # {shown}".rstrip(" #")
