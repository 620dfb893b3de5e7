"""Which pieces of search there are, in which order, and how the evaluations are shared."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from sciharness_symbolic_regression.engines.base import Attempt
from sciharness_symbolic_regression.formulas.forms import Sum
from sciharness_symbolic_regression.laws.engine import OFTEN, STAGES
from sciharness_symbolic_regression.laws.fits import needed
from sciharness_symbolic_regression.request import SearchRequest, alphabets
from sciharness_symbolic_regression.samples.sample import derived_seed

SEARCH_SHARE = 0.75  # of max_evaluations; the rest is for stability runs
LAWS_SHARE = 0.35  # of the search; the rest is for growth and the engine
GROWTH_SHARE, GROWTHS = 0.1, 4  # of the search, and how many pieces share it
LEAST_EVALUATIONS = 20_000  # fewer restarts rather than shorter ones
FIRST_STAGES = 4  # of the laws, which are run in each view of the units
LEAST_GROWTH = 2_000
LEAST_TERMS = 10_000  # a smaller table of terms is not worth a stage
LENGTH_SHARE = 0.75  # engines count a coefficient and its column as one node


def law_attempts(request: SearchRequest, seed: int, views: int = 0) -> tuple[Attempt, ...]:
    """Return the deterministic stages, as many as evaluations allow, see :func:`_places`."""
    total = int(LAWS_SHARE * _search_evaluations(request))
    places = _places(views)
    count = max(1, min(len(places), total // LEAST_TERMS))
    return tuple(
        Attempt(
            "laws",
            derived_seed(seed, 8),
            _allowed(request),
            request.max_complexity,
            total // count,
            request.loss,
            stage,
            view=view,
        )
        for stage, view in places[:count]
    )


def first_laws(views: int) -> int:
    """Return after how many of the stages a plain law may end the search."""
    return len(_first(views))


def _places(views: int) -> list[tuple[str, int]]:
    """Return stages and views: the first view and the columns as they are, then the other views.

    A further view shows the same law in other groups, so it only gets the first stages.
    In the first view there are few columns, and what is often a plain sum comes early.
    """
    both = _both(views)
    places = _first(views)
    places += [(stage, 1) for stage in (*OFTEN, "sine", "quotients") if views]
    places += [(stage, view) for stage in STAGES[:FIRST_STAGES] for view in range(2, views + 1)]
    places += [(stage, view) for stage in STAGES for view in both]
    return list(dict.fromkeys(places))


def _first(views: int) -> list[tuple[str, int]]:
    return [(stage, view) for stage in STAGES[:FIRST_STAGES] for view in _both(views)]


def _both(views: int) -> tuple[int, ...]:
    return (1, 0) if views else (0,)


def growth_attempts(
    request: SearchRequest, seed: int, starts: Sequence[Sequence[str]]
) -> tuple[Attempt, ...]:
    """Return one attempt for each list of formulas that are to grow."""
    base = Attempt(
        "laws", derived_seed(seed, 9), _allowed(request), request.max_complexity,
        int(GROWTH_SHARE * _search_evaluations(request)) // GROWTHS, request.loss, "growth",
    )  # fmt: skip
    if base.max_evaluations < LEAST_GROWTH:
        return ()
    return tuple(evolve(base, starts=tuple(texts)) for texts in starts if texts)


def restarts(request: SearchRequest, engine: str, seed: int) -> tuple[Attempt, ...]:
    """Return the restarts: alphabets in turn, each with its own seed and evaluation bound."""
    total = int((1 - LAWS_SHARE - GROWTH_SHARE) * _search_evaluations(request))
    count = max(1, min(request.restarts, total // LEAST_EVALUATIONS))
    sets = alphabets(request)
    return tuple(
        Attempt(
            engine,
            derived_seed(seed, 3, index),
            sets[index % len(sets)],
            max(5, round(LENGTH_SHARE * request.max_complexity)),
            total // count,
            request.loss,
        )
        for index in range(count)
    )


def repeat_attempt(
    request: SearchRequest, engine: str, form: Sum, found_by: Attempt | None
) -> Attempt | None:
    """Return how stability runs search: as the piece of search that found the formula.

    A restart of an engine takes the smallest alphabet that can express it; what
    has grown from other findings is searched with all that it takes to grow.
    """
    if request.stability_runs == 0:
        return None
    if found_by is not None and found_by.engine == "laws":
        stage = "chain" if found_by.stage == "growth" else found_by.stage
        return evolve(found_by, stage=stage, starts=(), view=0)
    wanted = needed(form)
    sets = sorted(alphabets(request), key=len)
    total = int((1 - SEARCH_SHARE) * request.max_evaluations)
    return Attempt(
        engine,
        0,
        next((one for one in sets if wanted <= set(one)), sets[-1]),
        max(5, round(LENGTH_SHARE * request.max_complexity)),
        max(total // request.stability_runs, LEAST_EVALUATIONS // 2),
        request.loss,
    )


def _search_evaluations(request: SearchRequest) -> int:
    return int((SEARCH_SHARE if request.stability_runs else 1.0) * request.max_evaluations)


def _allowed(request: SearchRequest) -> tuple[str, ...]:
    """Return the operators that formulas may have; empty for any."""
    if request.operators is None and request.alphabet == "auto":
        return ()
    return tuple(dict.fromkeys(name for one in alphabets(request) for name in one))
