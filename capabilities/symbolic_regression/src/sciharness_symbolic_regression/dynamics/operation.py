"""The operation ``symbolic_regression.dynamics``: samples from a directory, then the search."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import fields
from numpy.typing import NDArray

from sciharness.contextdata import load_context_data
from sciharness.errors import DataError
from sciharness.plugin import Context, Input, Outcome, Table
from sciharness_symbolic_regression.dynamics.rates import own_rates
from sciharness_symbolic_regression.dynamics.relations import (
    Relation,
    check_nodes,
    read_relation,
)
from sciharness_symbolic_regression.dynamics.request import DynamicsRequest
from sciharness_symbolic_regression.dynamics.samples import Samples, samples_of, write_samples
from sciharness_symbolic_regression.dynamics.series import Series, read_series, shown_nodes
from sciharness_symbolic_regression.dynamics.weak import LEAST_TIMES, WeakForm, windows_of
from sciharness_symbolic_regression.operation import search_on
from sciharness_symbolic_regression.request import SearchRequest
from sciharness_symbolic_regression.samples.rows import symbols_of

LEAST_NOISE = 1e-3  # of the spread, from which averages over windows beat slopes of splines
WIDEST_STEP = 5.0  # steps of time longer than this many usual ones are too few for a window
KNOWN_SHARE = 0.1  # of the error of slopes that hides nothing where windows decide

Json = dict[str, Any]  # Any: JSON values


def run(request: DynamicsRequest, context: Context) -> Outcome:
    """Find the law of motion of a variable of the directory of input ``data``.

    Raises:
        DataError: the directory has no such variable, axis or relation, or
            its series cannot be searched.
    """
    loaded = load_context_data(context.inputs["data"].path)
    series = read_series(loaded, request.variable, request.time, request.wrapped)
    relation = _relation(loaded, series, request)
    places, left_out = _searched_nodes(series, request.constant_nodes)
    samples = samples_of(series, relation, request, places)
    is_weak = _is_weak(series, samples, request.rates)
    samples, own = with_own_rates(samples, request.own_rates, is_weak)
    context.progress(0.01, f"{samples.rates.size} samples of the rate of {series.name}")
    path = context.output("samples.csv", "DATASET")
    write_samples(samples, path)
    table = Table(target=samples.target, features=tuple(samples.columns), group=samples.group)
    data = Input("data", path, "DATASET", "labelled_table", table)
    plain = SearchRequest(**{one.name: getattr(request, one.name) for one in fields(SearchRequest)})
    weak = _weak_form(samples, own, request, context.seed) if is_weak else None
    known = samples.rate_error * (KNOWN_SHARE if is_weak else 1.0)
    outcome = search_on(plain, context, data, known, weak)
    rates = "differences" if request.rates == "differences" else "weak" if weak else "spline"
    document = _document(series, samples, relation, own, weak, rates)
    path = context.output("dynamics.json", "analysis_result")
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", "utf-8")
    told = (*outcome.notes, *_sentences(samples, is_weak), *_left_out(series, left_out))
    return Outcome(outcome.metrics, told)


def _relation(
    loaded: Mapping[str, Any],  # Any: arrays and texts of the directory
    series: Series,
    request: DynamicsRequest,
) -> Relation | None:
    if series.node_axis is None and request.relation is None and request.terms is None:
        return None
    relation = read_relation(
        loaded,
        request.relation,
        request.orientation,
        request.edge_weight,
        request.time,
        request.weighted,
    )
    if relation is None and request.terms:
        raise DataError(
            "expected a relation to sum over, found none",
            where="dynamics",
            hint="Leave out `terms`, or add the edges to the directory.",
        )
    if relation is not None:
        check_nodes(relation, loaded, len(series.nodes), series.node_axis)
    return relation


def _searched_nodes(series: Series, policy: str) -> tuple[NDArray[np.intp], tuple[int, ...]]:
    """Return the numbers of the nodes whose motion is searched, and those left out.

    Raises:
        DataError: a node never moves and nothing says what to do, or none moves.
    """
    count, still = len(series.nodes), series.still
    everywhere = np.arange(count)
    if len(still) == count:
        raise DataError(
            "expected values that change along time, found constant ones",
            where=f"variable {series.name}",
        )
    if still and policy == "refuse":
        raise DataError(
            f"expected values that change along time, found constant ones at {len(still)} of "
            f"{count} nodes: {shown_nodes(series, still)}",
            where=f"variable {series.name}",
            hint="Set `constant_nodes: leave_out` if they are broken or held, `keep` if they rest.",
        )
    if policy == "leave_out":
        return np.delete(everywhere, still), still
    return everywhere, ()


def _is_weak(series: Series, samples: Samples, rates: str) -> bool:
    """Return whether laws are compared in windows.

    Raises:
        DataError: this was asked for and the times do not allow it.
    """
    enough, even = len(series.times) >= LEAST_TIMES, series.gap <= WIDEST_STEP
    if rates == "auto":
        return enough and even and samples.relative_noise >= LEAST_NOISE
    if rates != "weak" or (enough and even):
        return rates == "weak"
    found = (
        f"expected at least {LEAST_TIMES} times for windows, found {len(series.times)}"
        if not enough
        else f"expected steps of time alike, found one {series.gap:.3g} times the usual one"
    )
    raise DataError(found, where="dynamics", hint="Set `rates: spline`, or leave it out.")


def with_own_rates(
    samples: Samples, policy: str, is_weak: bool
) -> tuple[Samples, NDArray[np.float64] | None]:
    """Return samples with a column of the nodes' own rates where they differ, and these rates."""
    if is_weak:
        cut = windows_of(samples.times)
        rates = cut.rates(samples.measured)
        columns = {name: cut.averages(one.values) for name, one in samples.columns.items()}
    else:
        rates = samples.rates[samples.inner]
        columns = {name: one.values[samples.inner] for name, one in samples.columns.items()}
    own = own_rates(rates, columns, policy)
    if own is None:
        return samples, None
    meaning = "a rate of the node's own, estimated from these data"
    return samples.with_column("own_rate", own, meaning), own


def _weak_form(
    samples: Samples, own: NDArray[np.float64] | None, request: DynamicsRequest, seed: int
) -> WeakForm:
    symbols = symbols_of(list(samples.columns))
    own_rate = None if own is None else symbols[-1]  # the column that was added last
    return WeakForm.of(samples, request.validation, seed, request.loss, own_rate)


def _document(
    series: Series,
    samples: Samples,
    relation: Relation | None,
    own: NDArray[np.float64] | None,
    weak: WeakForm | None,
    rates: str,
) -> Json:
    return {
        "schema": "dynamics-v1",
        "variable": series.name,
        "target": samples.target,
        "relation": None if relation is None else relation.name,
        "edge_weight": None if relation is None else relation.weight_name,
        "columns": {name: one.meaning for name, one in samples.columns.items()},
        "own_rates": None if own is None else own.tolist(),
        "rates": rates,
        "windows": None if weak is None else weak.document(),
        "relative_noise": samples.relative_noise,
        "rate_error": samples.rate_error,
        "times": len(series.times),
        "nodes": len(samples.places),
        "node_names": [series.nodes[place] for place in samples.places],
    }


def _sentences(samples: Samples, is_weak: bool) -> tuple[str, ...]:
    told = [f"{name}: {one.meaning}." for name, one in samples.columns.items()]
    found = [f"Rates are those of {samples.target}; its columns: " + " ".join(told)]
    if is_weak:
        found.append(
            "Constants and the choice come from averages over windows of time (weak form), "
            f"noise of the values being {samples.relative_noise:.2g} of their spread; metrics "
            "compare with slopes of smoothing splines."
        )
    return tuple(found)


def _left_out(series: Series, places: tuple[int, ...]) -> tuple[str, ...]:
    if not places:
        return ()
    return (f"Left out, as their values never change: {shown_nodes(series, places)}.",)
