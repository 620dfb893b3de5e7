"""The fields of ``research-contract-v1``, one declaration for loader and JSON Schema."""

from __future__ import annotations

from typing import Any

from sciharness.contract import durations
from sciharness.contract.records import COUNTED_BUDGET_KEYS, OPERATORS, ROLES, SCHEMA
from sciharness.contract.scalars import Anything, Blank, Flag, Integer, Number, OneOf, Text
from sciharness.contract.shapes import Either, Field, ListOf, MapOf, Record

MAX_TITLE = 120
MAX_INPUTS = 20
MAX_SEED = 2**32 - 1  # what every numerical library takes

DELIVERABLES = ("predictor_plugin", "solver_adapter")

_LINE = r"[^\r\n]*\S[^\r\n]*"
TITLE = Text("a title of one line", _LINE, MAX_TITLE)
PROSE = Text("text that is not blank", r"[\s\S]*\S[\s\S]*")
COLUMN = Text("a column name", r"[\s\S]+")
NAME = Text("a name of letters, digits, `_` and `-`", r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
CAPABILITY = Text(
    "a capability name such as `evaluation.regression`", r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+"
)
PLUGIN = Text("a name such as `recipe` or `plugin.name`", r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*")
DELIVERABLE = Text("what a publisher delivers, such as `predictor_plugin`", r"[a-z][a-z0-9_]{0,63}")
METRIC = Text("a metric name", _LINE, 200)
REFERENCE = Text("an input, a step, or `STEP.ARTIFACT`", r"[A-Za-z_][A-Za-z0-9_-]*(?:\.[^\s/\\]+)?")
DURATION = Text(
    "a duration such as 90s, 10m or 1h30m",
    durations.PATTERN,
    hint="Write numbers with their units h, m, s: 90s is a minute and a half.",
)
SEED = Integer(0, MAX_SEED)
SHARE = Number(above=0, below=1)
OBJECT = MapOf(Anything())

SOLVER = Record(
    {
        "executable": Field(PROSE, "Path of the program inside the folder.", required=True),
        "command": Field(
            ListOf(PROSE, least=1), "Arguments; {executable}, {input} and {output} are filled in."
        ),
        "table": Field(
            Record(
                {
                    "inputs": Field(ListOf(COLUMN, least=1, unique=True), required=True),
                    "outputs": Field(ListOf(COLUMN, least=1, unique=True), required=True),
                }
            ),
            "Columns, where input and output are CSV with one row per case.",
        ),
        "smoke": Field(
            Record(
                {
                    "args": Field(ListOf(Text()), "Arguments of a short trial call."),
                    "expect_exit": Field(Integer(0, 255), "Exit code it ends with.", default=0),
                }
            ),
            "A short documented call that shows that the program starts.",
        ),
    }
)

INPUT = Record(
    {
        "name": Field(NAME, "Name that steps refer to.", required=True),
        "path": Field(PROSE, "File or folder, relative to the contract, with `/`.", required=True),
        "role": Field(
            OneOf(ROLES),
            "What it is for; default labelled_table for CSV, TSV, Parquet, else other.",
        ),
        "task": Field(OneOf(("regression", "classification")), "Task.", default="regression"),
        "target": Field(
            COLUMN,
            "Column or variable to predict; default the last column but sample_id.",
        ),
        "features": Field(
            ListOf(COLUMN, least=1, unique=True), "Columns to predict from; default all others."
        ),
        "ignore": Field(ListOf(COLUMN, unique=True), "Columns to leave aside.", default=[]),
        "weights": Field(COLUMN, "Column with weights of the rows."),
        "sigma": Field(COLUMN, "Column with the measurement error of the target."),
        "units": Field(MapOf(Text("a unit")), "Units by column name.", default={}),
        "missing": Field(
            OneOf(("refuse", "drop")), "What to do with gaps in features.", default="refuse"
        ),
        "solver": Field(SOLVER, "How to call a reference solver."),
    },
    expected="a mapping with name and path",
)

CRITERION = Record(
    {
        "metric": Field(METRIC, "Metric name.", required=True),
        "op": Field(OneOf(OPERATORS), "Comparison; `>` and `>=` need quotes.", required=True),
        "value": Field(Number(), "Threshold.", required=True),
        "trusted": Field(Flag(), "Only values from the sealed labels count.", default=False),
    },
    expected="a mapping with metric, op and value",
)

RULE = Record(
    {
        "when": Field(OBJECT, "Fields of the request that this rule is for.", required=True),
        "require": Field(OBJECT, "Fields that then have to have these values.", required=True),
    },
    expected="a mapping with when and require",
)

STEP = Record(
    {
        "id": Field(NAME, "Name of the step.", required=True),
        "use": Field(CAPABILITY, "Capability.", required=True),
        "inputs": Field(MapOf(REFERENCE), "Inputs of the operation by name.", default={}),
        "with": Field(OBJECT, "Parameters of the operation.", default={}),
    },
    expected="a mapping with id and use",
)

WORKFLOW = Record(
    {
        "hypothesis_verification": Field(Flag(), "Allow versioned hypotheses.", default=False),
        "required_artifacts": Field(
            ListOf(PROSE, unique=True), "Artifact types that have to be there.", default=[]
        ),
        "final_predictor": Field(Flag(), "Require an evaluated predictor.", default=False),
    }
)

PERMISSIONS = Record(
    {
        "reuse_generated_code": Field(Flag(), "Reuse code generated in runs.", default=False),
        "publish_plugins": Field(Flag(), "Publish new plugins.", default=False),
        "symbolic_baseline": Field(Flag(), "Fall back to the bounded baseline.", default=False),
    }
)

BUDGET = Record(
    {
        **{key: Field(Blank(Integer(1)), "Blank: not limited.") for key in COUNTED_BUDGET_KEYS},
        "cpu_hours": Field(Blank(Number(above=0)), "Blank: not limited."),
        "gpu_hours": Field(Blank(Number(above=0)), "Blank: not limited."),
        "wall_time": Field(
            Blank(DURATION),
            "Duration such as 90s, 10m or 1h30m.",
        ),
    },
    expected="a mapping of budget keys, or `unlimited`",
)

HOLDOUT = Record(
    {
        "fraction": Field(SHARE, "Share of final rows, or of final groups.", default=0.2),
        "seed": Field(SEED, "Seed of the split.", default=0),
        "max_queries": Field(Integer(1), "Predictors that may be judged.", default=1),
        "group": Field(COLUMN, "Column whose values stay on one side."),
        "order": Field(OneOf(("last",)), "Take the last rows of the file."),
        "verification": Field(SHARE, "Share of rows for verification steps only."),
        "generated_by": Field(NAME, "Step that makes the final data."),
    },
    expected="a mapping, or `none`",
    conflicts=(
        ("order", "group"),
        ("generated_by", "fraction"),
        ("generated_by", "seed"),
        ("generated_by", "group"),
        ("generated_by", "order"),
        ("generated_by", "verification"),
    ),
)

CHOICE = Record({"use": Field(PLUGIN, required=True)}, "a name or a mapping with use", open=True)

PUBLICATION = Record(
    {
        "id": Field(PLUGIN, "Plugin ID of the package.", required=True),
        "version": Field(Text("a version as text"), "Default: from the model's digest."),
        "install": Field(Flag(), "Install it as well, by the same checks.", default=False),
    },
    expected="a mapping with id",
)
PUBLICATIONS = MapOf(PUBLICATION, key=DELIVERABLE, least=1)


def _is_record(value: Any) -> int:  # Any: JSON values
    return 0 if isinstance(value, str) else 1


def _is_single(value: Any) -> int:  # Any: JSON values
    items = list(value.values()) if isinstance(value, dict) else []
    return 1 if any(isinstance(item, dict) for item in items) else 0


CONTRACT = Record(
    {
        "schema": Field(OneOf((SCHEMA,)), f"Always {SCHEMA}.", required=True),
        "title": Field(TITLE, "At most 120 characters, one line.", required=True),
        "goal": Field(PROSE, "A goal that can be checked.", required=True),
        "questions": Field(ListOf(PROSE), "Questions to look into.", default=[]),
        "inputs": Field(ListOf(INPUT, most=MAX_INPUTS), "Files and folders.", default=[]),
        "capabilities": Field(
            ListOf(CAPABILITY, least=1, unique=True), "What this run may use.", required=True
        ),
        "constraints": Field(
            MapOf(ListOf(RULE), key=CAPABILITY), "Rules on requests by capability.", default={}
        ),
        "acceptance": Field(
            ListOf(CRITERION, least=1), "Criteria; all have to hold.", required=True
        ),
        "workflow": Field(WORKFLOW, "Completion conditions beyond the criteria.", default={}),
        "permissions": Field(PERMISSIONS, "Switches, all off by default.", default={}),
        "budget": Field(
            Blank(Either((OneOf(("unlimited",)), BUDGET), _is_record)),
            "Limits; what is not named is not limited.",
        ),
        "holdout": Field(
            Either((OneOf(("none",)), HOLDOUT), _is_record),
            "How final rows of labelled tables are set apart.",
            default={"fraction": 0.2, "seed": 0, "max_queries": 1},
        ),
        "executor": Field(Either((PLUGIN, CHOICE), _is_record), "Executor.", default="local"),
        "reasoner": Field(Either((PLUGIN, CHOICE), _is_record), "Reasoner.", default="recipe"),
        "steps": Field(ListOf(STEP, least=1), "The whole recipe; default: derived."),
        "deliver": Field(ListOf(DELIVERABLE, unique=True), "Beyond report and export.", default=[]),
        "publish": Field(Either((PUBLICATION, PUBLICATIONS), _is_single), "Packages."),
        "seed": Field(SEED, "Seed of all steps.", default=0),
    },
    expected=f"a mapping with the fields of {SCHEMA}",
)
