"""The JSON that commands print, as JSON Schemas: fields may be added, none may go or change."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]  # Any: JSON Schema

TEXT: Schema = {"type": "string"}
TEXT_OR_NONE: Schema = {"type": ["string", "null"]}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
DIGEST: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
RUN_ID: Schema = {"type": "string", "minLength": 1}

STATUSES = (
    "created",
    "running",
    "paused",
    "waiting_for_input",
    "interrupted",
    "succeeded",
    "failed",
    "budget_exhausted",
    "cancelled",
)
DELIVERIES = ("none", "pending", "succeeded", "failed")
KINDS = (
    "usage",
    "contract",
    "data",
    "request",
    "waiting",
    "budget",
    "delivery",
    "integrity",
    "plugin",
    "internal",
)
GROUPS = (
    "domain experiments",
    "execution and training",
    "evaluation",
    "analysis",
    "knowledge and verification",
    "report and visualisation",
)
BUDGET_KEYS = (
    "actions",
    "experiments",
    "failures",
    "solver_calls",
    "training_runs",
    "training_samples",
    "model_calls",
    "model_tokens",
    "reasoner_calls",
    "reasoner_tokens",
    "code_generations",
    "code_repairs",
    "repair_attempts",
    "cpu_hours",
    "gpu_hours",
    "wall_time",
)


def record(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(fields)}


def listing(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def one_of(*values: str) -> Schema:
    return {"enum": list(values)}


ERROR = record(kind=one_of(*KINDS), where=TEXT, message=TEXT, hint=TEXT)
PROBLEM = record(
    kind=one_of(*KINDS),
    file=TEXT,
    line={"type": ["integer", "null"], "minimum": 1},
    column={"type": ["integer", "null"], "minimum": 1},
    path=TEXT,
    found=TEXT,
    expected=TEXT,
    hint=TEXT,
)
ARTIFACT = record(name=TEXT, type=TEXT, sha256=DIGEST, path=TEXT)
RUN = record(
    run_id=RUN_ID,
    title=TEXT,
    status=one_of(*STATUSES),
    delivery=one_of(*DELIVERIES),
    criteria=listing(
        record(
            metric=TEXT,
            op=one_of("<=", "<", ">=", ">", "=="),
            threshold=NUMBER,
            value={"type": ["number", "null"]},
            trusted=FLAG,
            met=FLAG,
            reason=TEXT_OR_NONE,
        )
    ),
    metrics=listing(
        record(
            name=TEXT,
            value=NUMBER,
            source=one_of("trusted", "reported", "runtime"),
            capability=TEXT,
        )
    ),
    budget={
        **record(**{key: {"$ref": "#/$defs/use"} for key in BUDGET_KEYS}),
        "additionalProperties": False,
    },
    artifacts=listing(ARTIFACT),
    sealed_holdout_targets={
        "type": "object",
        "additionalProperties": record(
            target=TEXT, reason=TEXT, rows_train=COUNT, rows_final=COUNT, split=TEXT
        ),
    },
    label_isolation=one_of("landlock+seccomp", "landlock", "none"),
    export=TEXT_OR_NONE,
)
RUN["$defs"] = {
    "use": record(used={"type": "number", "minimum": 0}, limit={"type": ["number", "null"]})
}
PLUGIN = record(
    id=TEXT,
    version=TEXT,
    distribution=TEXT,
    origin=one_of("builtin", "first_party", "third_party", "generated"),
    state=one_of("admitted", "installed", "refused", "broken"),
    digest=TEXT,
    trusted_metrics=FLAG,
    reason=TEXT_OR_NONE,
    capabilities=listing(TEXT),
)
OPERATION = record(
    name=TEXT,
    group=one_of(*GROUPS),
    domain=TEXT_OR_NONE,
    trusted=FLAG,
    consumes=listing(TEXT),
    produces=listing(TEXT),
    metrics=listing(TEXT),
    request={"type": "object"},
    **{"class": one_of("core", "domain")},
)

SCHEMAS: dict[str, Schema] = {
    "run": RUN,
    "failed run": {**RUN, "properties": {**RUN["properties"], "error": ERROR}},
    "list": record(
        runs=listing(
            record(
                run_id=RUN_ID,
                title=TEXT,
                status=one_of(*STATUSES),
                delivery=one_of(*DELIVERIES),
                created={"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"},
            )
        )
    ),
    "check": record(
        ok=FLAG,
        problems=listing(PROBLEM),
        warnings=listing(PROBLEM),
        pins=listing({"type": "string", "pattern": r"^\S+ \S+ \S+ [0-9a-f]{64}$"}),
        inputs=listing(record(name=TEXT, type=TEXT, bytes=COUNT, sha256=DIGEST)),
    ),
    "call": record(
        capability=TEXT,
        metrics={"type": "object", "additionalProperties": NUMBER},
        artifacts=listing(ARTIFACT),
        notes=listing(TEXT),
        seconds=NUMBER,
    ),
    "plugin list": record(plugins=listing(PLUGIN)),
    "plugin show": {
        **PLUGIN,
        "properties": {**PLUGIN["properties"], "operations": listing(OPERATION)},
    },
    "error": record(error=ERROR, problems=listing(PROBLEM)),
    "event": record(seq=COUNT, time=TEXT, kind=TEXT, body={"type": "object"}),
}
SCHEMAS["failed run"]["required"] = [*RUN["required"], "error"]
SCHEMAS["plugin show"]["required"] = [*PLUGIN["required"], "operations"]
