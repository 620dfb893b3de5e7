"""Checks of the whole plugin and of what it says of itself."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from sciharness.contract.artifact_types import canonical_type
from sciharness.contract.records import BUDGET_KEYS
from sciharness.descriptors import Operation
from sciharness.hooks import HOOK_API
from sciharness.testkit.bench import Bench
from sciharness.testkit.verdicts import Verdict, failed, judged, passed
from sciharness.workers.child import Grants, Limits, run_child
from sciharness.workers.outcome import is_artifact_name

IMPORT_SECONDS = 0.5
MAX_SUMMARY = 120

# Libraries that take long to load; they belong inside the function that uses them.
HEAVY = frozenset(
    {
        "jax", "matplotlib", "numba", "numpy", "pandas", "pyarrow", "pyoperon", "pysr",
        "scipy", "sklearn", "sympy", "tensorflow", "torch", "xarray", "xtrack",
    }
)  # fmt: skip

_IMPORT = """
import importlib, json, sys, time
sys.path[:] = json.loads(sys.argv[2])
import attrs, pluggy, sciharness.hooks, sciharness.plugin, sciharness.roles
before = set(sys.modules)
started = time.process_time()
importlib.import_module(sys.argv[1])
seconds = time.process_time() - started
tops = sorted({name.partition(".")[0] for name in set(sys.modules) - before})
print(json.dumps({"seconds": seconds, "tops": tops}))
"""


def check(bench: Bench) -> Iterator[Verdict]:
    """Yield verdicts on import, hook number and what is registered at all."""
    yield from _check_import(bench)
    found = bench.descriptor.hook_api
    if found == HOOK_API:
        yield passed("hook API", str(found))
    else:
        yield failed("hook API", f"written for {found}, this kernel has {HOOK_API}")
    if not bench.descriptor.operations:
        yield failed("hooks", "nothing is registered: are the functions marked with @hookimpl?")


def _check_import(bench: Bench) -> Iterator[Verdict]:
    place = bench.scratch()
    module = bench.package.package.entry_point.partition(":")[0]
    path = [*sys.path, str(bench.plugin.root)]
    done = run_child(
        [sys.executable, "-c", _IMPORT, module, json.dumps(path)],
        cwd=place,
        limits=Limits(wall_seconds=60.0),
        grants=Grants(read=(bench.plugin.root,), write=(place,)),
    )
    if done.returncode != 0:
        tail = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        yield failed("import", " ".join(tail) or f"ended with {done.failure}")
        return
    said = json.loads(done.stdout.splitlines()[-1])
    seconds, heavy = said["seconds"], sorted(HEAVY.intersection(said["tops"]))
    if heavy:
        hint = "import it inside the function that uses it"
        yield failed("top-level imports", f"{', '.join(heavy)}: {hint}")
    else:
        yield passed("top-level imports")
    shown = f"{seconds:.2f} s"
    limit = f"at most {IMPORT_SECONDS:g} s, every worker pays it"
    yield (
        passed("import", shown)
        if seconds <= IMPORT_SECONDS
        else failed("import", f"{shown}, {limit}")
    )


def check_description(operation: Operation) -> Verdict:
    """Return the verdict on what an operation says of itself."""
    faults = [
        *_summary_faults(operation),
        *_name_faults(operation),
        *_type_faults(operation),
        *_field_faults(operation),
    ]
    unknown = sorted(set(operation.charges) - set(BUDGET_KEYS))
    if unknown:
        faults.append(f"charges {', '.join(unknown)}, which are no budget keys")
    if "task_completion" in operation.metrics:
        faults.append("task_completion is the runtime's metric")
    if operation.leased and not (operation.outputs or operation.metrics):
        faults.append("declares neither artifacts nor metrics")
    return judged("description", faults, operation.operation)


def _summary_faults(operation: Operation) -> Iterator[str]:
    summary = operation.summary
    if not summary.strip():
        yield "has no summary"
    elif len(summary) > MAX_SUMMARY or "\n" in summary:
        yield f"its summary is no single line of at most {MAX_SUMMARY} characters"


def _name_faults(operation: Operation) -> Iterator[str]:
    for what, names in (
        ("input", [item.name for item in operation.inputs]),
        ("output", [item.name for item in operation.outputs]),
        ("metric", list(operation.metrics)),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            yield f"the {what} {', '.join(twice)} is named twice"
    odd = [item.name for item in operation.outputs if not is_artifact_name(item.name)]
    if odd:
        yield f"{', '.join(map(repr, odd))} is no plain file name"


def _type_faults(operation: Operation) -> Iterator[str]:
    given = [item.type for item in operation.outputs]
    given += [kind for item in operation.inputs for kind in item.types]
    for kind in sorted(set(given)):
        if canonical_type(kind) != kind:
            yield f"the type {kind} is spelled {canonical_type(kind)}"


def _field_faults(operation: Operation) -> Iterator[str]:
    filled_in = ("id", "version") if operation.kind == "publisher" else ()
    for name, part in operation.request_schema.get("properties", {}).items():
        if not part.get("description") and name not in filled_in:
            yield f"the parameter {name} has no help"
        yield from _untyped(part, name)


def _untyped(part: Mapping[str, Any], place: str) -> Iterator[str]:  # Any: JSON Schema
    if not set(part) - {"description", "default"}:
        yield f"the parameter {place} takes anything: give it a type"
    for name, inner in part.get("properties", {}).items():
        yield from _untyped(inner, f"{place}.{name}")
