"""The operation ``symbolic_regression.dynamics``: samples from a directory, then the search."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import fields, frozen
from numpy.typing import NDArray

from sciharness.contextdata import load_context_data
from sciharness.plugin import Context, Input, Outcome, Table
from sciharness_symbolic_regression.dynamics.rates import own_rates
from sciharness_symbolic_regression.dynamics.relations import read_relation, sums_over
from sciharness_symbolic_regression.dynamics.request import DynamicsRequest
from sciharness_symbolic_regression.dynamics.series import Series, read_series
from sciharness_symbolic_regression.operation import search_on
from sciharness_symbolic_regression.request import SearchRequest

Array = NDArray[np.float64]

BLOCKS = 10  # stretches of time; whole ones are kept back to choose a formula by
MOST_SAMPLES = 200_000
LEAST_SPREAD = 1e-9

Json = dict[str, Any]  # Any: JSON values


@frozen(eq=False)
class Samples:
    """Columns (times, nodes) by name, what each means, the rates, and the name of the target."""

    target: str
    rates: Array
    columns: Mapping[str, Array]
    meaning: Mapping[str, str]
    own: Array | None


def run(request: DynamicsRequest, context: Context) -> Outcome:
    """Find the law of motion of a variable of the directory of input ``data``.

    Raises:
        DataError: the directory has no such variable, axis or relation.
    """
    loaded = load_context_data(context.inputs["data"].path)
    series = read_series(loaded, request.variable, request.time, request.smoothing, request.wrapped)
    relation = read_relation(loaded, request.relation, request.orientation)
    if relation is not None and series.node_axis is None:
        relation = None
    context.progress(0.01, f"{series.rates.size} samples of the rate of {series.name}")
    samples = _samples(request, series, *_sums(relation, series, request))
    data = _written(samples, context)
    described = _document(samples, series, None if relation is None else relation.name, request)
    path = context.output("dynamics.json", "analysis_result")
    path.write_text(json.dumps(described, ensure_ascii=False, indent=2) + "\n", "utf-8")
    plain = SearchRequest(**{one.name: getattr(request, one.name) for one in fields(SearchRequest)})
    outcome = search_on(plain, context, data, series.rate_error)
    return Outcome(outcome.metrics, (*outcome.notes, *_sentences(samples)))


def _sums(
    relation: Any, series: Series, request: DynamicsRequest
) -> tuple[dict[str, Array], dict[str, str]]:
    if relation is None:
        return {}, {}
    return sums_over(relation, series.values, request.terms)


def _samples(
    request: DynamicsRequest, series: Series, sums: Mapping[str, Array], texts: Mapping[str, str]
) -> Samples:
    columns: dict[str, Array] = {series.name: series.values, **series.others}
    meaning = {series.name: f"{series.name} of the node itself, smoothed"}
    meaning |= dict.fromkeys(series.others, "a variable of the directory")
    for term, values in sums.items():
        name = _free(f"sum_{term}" if term != "degree" else "degree", columns)
        columns[name] = values
        meaning[name] = f"the sum over neighbours j of i of {texts[term]}, x = {series.name}"
    columns = _useful(columns, series.name)
    own = own_rates(series.rates, columns, request.own_rates)
    if own is not None:
        name = _free("own_rate", columns)
        columns[name] = np.broadcast_to(own[None, :], series.rates.shape)
        meaning[name] = "a rate of the node's own, estimated from these data"
    target = _free(f"d_{series.name}_dt", columns)
    return Samples(target, series.rates, columns, meaning, own)


def _useful(columns: Mapping[str, Array], always: str) -> dict[str, Array]:
    """Return the columns that vary and do not repeat an earlier one."""
    kept: dict[str, Array] = {}
    for name, column in columns.items():
        size = float(np.abs(column).max())
        if not np.isfinite(size) or (name != always and np.ptp(column) <= LEAST_SPREAD * size):
            continue
        near = LEAST_SPREAD * size
        if all(np.abs(column - other).max() > near for other in kept.values()):
            kept[name] = column
    return kept


def _written(samples: Samples, context: Context) -> Input:
    """Write the samples as a table and return it as the input of a search."""
    times, nodes = samples.rates.shape
    step = -(-times * nodes // MOST_SAMPLES)
    block = np.broadcast_to((np.arange(times) * BLOCKS // times)[:, None], samples.rates.shape)
    group = _free("block", {**samples.columns, samples.target: samples.rates})
    names = [group, *samples.columns, samples.target]
    arrays = [block, *samples.columns.values(), samples.rates]
    path = context.output("samples.csv", "DATASET")
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        flat = [array.ravel()[::step].tolist() for array in arrays]
        writer.writerows(zip(*flat, strict=True))
    table = Table(target=samples.target, features=tuple(samples.columns), group=group)
    return Input("data", path, "DATASET", "labelled_table", table)


def _document(
    samples: Samples, series: Series, relation: str | None, request: DynamicsRequest
) -> Json:
    return {
        "schema": "dynamics-v1",
        "variable": series.name,
        "target": samples.target,
        "relation": relation,
        "columns": {name: samples.meaning[name] for name in samples.columns},
        "own_rates": None if samples.own is None else samples.own.tolist(),
        "smoothing": request.smoothing,
        "rate_error": series.rate_error,
        "times": len(series.times),
        "nodes": int(series.rates.shape[1]),
    }


def _sentences(samples: Samples) -> tuple[str, ...]:
    told = [f"{name}: {text}." for name, text in samples.meaning.items() if name in samples.columns]
    return (f"Rates are those of {samples.target}; its columns: " + " ".join(told),)


def _free(name: str, taken: Mapping[str, Array]) -> str:
    while name in taken:
        name += "_"
    return name
