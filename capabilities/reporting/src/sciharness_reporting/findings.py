"""The artifacts that a report tells about: formulas, evaluations, model cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import field, frozen

from sciharness import Input
from sciharness_reporting.record import Json, Run, mapping, objects, read_json, texts, whole
from sciharness_reporting.text import clean, label, real

_LARGEST_JSON = 50_000_000


@frozen
class Constant:
    """A constant of a formula with its interval, where one was found."""

    value: float
    low: float | None
    high: float | None


@frozen
class Candidate:
    """One formula; ``domain`` maps column names to the range it was fitted on."""

    formula: str
    latex: str
    complexity: float | None
    constants: tuple[Constant, ...]
    train: Mapping[str, float]
    validation: Mapping[str, float]
    domain: Mapping[str, tuple[float, float]]
    stability: Json
    plain: Mapping[str, Json]


@frozen
class Formulas:
    """The candidate formulas of one step and the choice among them."""

    step: str
    target: str
    features: tuple[str, ...]
    symbols: Mapping[str, str]
    candidates: tuple[Candidate, ...]
    chosen: int | None
    rule: str
    stop_reason: str
    plain: Mapping[str, Json]

    @property
    def choice(self) -> Candidate | None:
        """The chosen candidate, if there is one."""
        if self.chosen is None or not 0 <= self.chosen < len(self.candidates):
            return None
        return self.candidates[self.chosen]


@frozen
class Evaluation:
    """One predictor.evaluation; ``view`` tells the rows it was made on."""

    step: str
    task: str
    rows: int
    view: str
    metrics: Mapping[str, float]
    undefined: Mapping[str, str]
    definitions: Mapping[str, str]
    baseline: Mapping[str, float]
    bins: tuple[Mapping[str, float], ...]
    plain: Mapping[str, Json]


@frozen
class Findings:
    """All that could be read of a run's artifacts."""

    formulas: tuple[Formulas, ...] = field(default=())
    evaluations: tuple[Evaluation, ...] = field(default=())
    cards: Mapping[str, Mapping[str, Json]] = field(factory=dict)
    selections: Mapping[str, Mapping[str, Json]] = field(factory=dict)

    def main(self, run: Run) -> Formulas | None:
        """Return the formulas of the frozen predictor, else the newest that were found."""
        frozen_step = mapping(run.value("frozen")).get("step")
        for found in self.formulas:
            if found.step == frozen_step:
                return found
        return self.formulas[-1] if self.formulas else None

    def final(self) -> Evaluation | None:
        """Return the evaluation on sealed rows, if it was made."""
        return next((one for one in self.evaluations if one.view == "final"), None)


def read_findings(inputs: Mapping[str, Input]) -> Findings:
    """Return what the artifacts among ``inputs`` hold; unreadable ones are left out."""
    formulas, evaluations, cards, selections = [], [], {}, {}
    for name, given in sorted(inputs.items()):
        step, _, file = name.partition(".")
        if not file.endswith(".json") or given.path.stat().st_size > _LARGEST_JSON:
            continue
        if given.type == "predictor.evaluation":
            evaluations.append(_evaluation(label(step), mapping(read_json(given.path))))
        elif given.type == "model_card":
            cards[label(step)] = mapping(read_json(given.path))
        elif given.type == "analysis_result":
            plain = mapping(read_json(given.path))
            if plain.get("schema") == "formulas-v1":
                formulas.append(_formulas(label(step), plain))
            elif plain.get("schema") == "model-selection-v1":
                selections[label(step)] = plain
    return Findings(tuple(formulas), tuple(evaluations), cards, selections)


def numbers(value: Json) -> dict[str, float]:
    """Return the finite numbers of a JSON object by name."""
    known = ((label(name), real(one)) for name, one in mapping(value).items())
    return {name: one for name, one in known if one is not None}


def _formulas(step: str, plain: Mapping[str, Json]) -> Formulas:
    chosen = plain.get("chosen")
    return Formulas(
        step=step,
        target=label(plain.get("target")),
        features=texts(plain.get("features")),
        symbols={label(key): label(one) for key, one in mapping(plain.get("symbols")).items()},
        candidates=tuple(map(_candidate, objects(plain.get("candidates")))),
        chosen=chosen if isinstance(chosen, int) and not isinstance(chosen, bool) else None,
        rule=clean(plain.get("rule"), 1000),
        stop_reason=label(plain.get("stop_reason"), 200),
        plain=plain,
    )


def _candidate(plain: Mapping[str, Json]) -> Candidate:
    metrics = mapping(plain.get("metrics"))
    return Candidate(
        formula=clean(plain.get("formula")),
        latex=clean(plain.get("latex"), 10_000),
        complexity=real(plain.get("complexity")),
        constants=tuple(_constants(plain)),
        train=numbers(metrics.get("train")),
        validation=numbers(metrics.get("validation")),
        domain=dict(_ranges(plain.get("domain"))),
        stability=plain.get("stability"),
        plain=plain,
    )


def _constants(plain: Mapping[str, Json]) -> Iterator[Constant]:
    for one in objects(plain.get("constants")):
        value = real(one.get("value"))
        if value is not None:
            yield Constant(value, real(one.get("low")), real(one.get("high")))


def _ranges(value: Json) -> Iterator[tuple[str, tuple[float, float]]]:
    for name, ends in mapping(value).items():
        known = [real(end) for end in ends] if isinstance(ends, Sequence) else []
        if len(known) == 2 and known[0] is not None and known[1] is not None:
            yield label(name), (known[0], known[1])


def _evaluation(step: str, plain: Mapping[str, Json]) -> Evaluation:
    bins = tuple(numbers(one) for one in objects(plain.get("bins")))
    wanted = {"predicted_mean", "true_mean", "residual_std"}
    return Evaluation(
        step=step,
        task=label(plain.get("task")),
        rows=whole(plain.get("rows")),
        view=label(plain.get("view")),
        metrics=numbers(plain.get("metrics")),
        undefined={label(k): label(v, 300) for k, v in mapping(plain.get("undefined")).items()},
        definitions={label(k): label(v, 400) for k, v in mapping(plain.get("definitions")).items()},
        baseline=numbers(mapping(plain.get("baseline")).get("metrics")),
        bins=tuple(one for one in bins if wanted <= one.keys()),
        plain=plain,
    )
