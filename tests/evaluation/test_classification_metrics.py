"""Classification metrics against scikit-learn and against their definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.errors import DataError
from sciharness_evaluation.classification import Classified, measure

Judge = Callable[..., Any]

two_class_rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from([0, 0.1, 0.1, 0.5, 0.7, 1])),
    min_size=2,
    max_size=60,
)


@settings(deadline=None, max_examples=150)
@given(rows=two_class_rows.filter(lambda rows: len({row[0] for row in rows}) == 2))
def test_two_class_metrics_agree_with_scikit_learn(rows: list[tuple[int, int, float]]) -> None:
    oracle = pytest.importorskip("sklearn.metrics")
    true, predicted = np.array([row[:2] for row in rows]).T
    probability = np.array([row[2] for row in rows])

    values = measure(Classified(("no", "yes"), true, predicted, probability)).values

    assert values == pytest.approx(
        {
            "balanced_accuracy": oracle.balanced_accuracy_score(true, predicted),
            "accuracy": oracle.accuracy_score(true, predicted),
            "auc": oracle.roc_auc_score(true, probability),
            "brier": oracle.brier_score_loss(true, probability),
        },
        rel=1e-12,
    )


@settings(deadline=None, max_examples=100)
@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=60).filter(
        lambda rows: len({true for true, _ in rows}) > 1
    )
)
def test_recalls_are_averaged_over_the_classes_that_are_present(
    rows: list[tuple[int, int]],
) -> None:
    true, predicted = np.array(rows).T
    recalls = [np.mean(predicted[true == code] == code) for code in set(true.tolist())]

    values = measure(Classified(tuple("abcde"), true, predicted, None)).values

    assert values["balanced_accuracy"] == pytest.approx(np.mean(recalls), rel=1e-12)


def test_text_classes_are_compared_as_text(judge: Judge) -> None:
    judged = judge(
        "classification",
        ["lost", "kept", "lost"],
        ["lost", "kept", "kept"],
        classes=["kept", "lost"],
    )

    assert judged.outcome.metrics["accuracy"] == pytest.approx(2 / 3)
    assert judged.outcome.metrics["balanced_accuracy"] == pytest.approx(0.75)
    assert judged.record["undefined"] == {
        "auc": "the predictions have no column 'probability'",
        "brier": "the predictions have no column 'probability'",
    }


def test_numbers_as_classes_are_compared_by_value(judge: Judge) -> None:
    judged = judge("classification", ["1.0", "0", "1"], ["1", "0", "0"], classes=[0, 1])

    assert judged.outcome.metrics["accuracy"] == pytest.approx(2 / 3)


def test_probability_is_that_of_the_second_class(judge: Judge) -> None:
    judged = judge(
        "classification",
        ["kept", "kept", "lost", "lost"],
        ["kept", "kept", "lost", "lost"],
        {"probability": [0.1, 0.2, 0.8, 0.9]},
        classes=["kept", "lost"],
    )

    assert judged.outcome.metrics["auc"] == 1.0
    assert judged.outcome.metrics["brier"] == pytest.approx(0.025)


def test_one_class_in_the_labels_leaves_balanced_accuracy_undefined(judge: Judge) -> None:
    judged = judge(
        "classification",
        ["a", "a"],
        ["a", "a"],
        {"probability": [0.1, 0.3]},
        classes=["a", "b"],
    )

    assert set(judged.record["undefined"]) == {"balanced_accuracy", "auc"}
    assert judged.outcome.metrics == pytest.approx({"accuracy": 1.0, "brier": 0.05})
    assert any("only one class" in note for note in judged.outcome.notes)


def test_a_true_class_unknown_to_training_counts_as_missed(judge: Judge) -> None:
    judged = judge("classification", ["a", "b", "a"], ["a", "b", "c"], classes=["a", "b"])

    assert judged.outcome.metrics["balanced_accuracy"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("cell", ["c", "", " a", "A"], ids=repr)
def test_a_prediction_of_no_class_fails_the_evaluation(judge: Judge, cell: str) -> None:
    with pytest.raises(DataError, match="1 of 2 predictions are none of the classes"):
        judge("classification", ["a", cell], ["a", "b"], classes=["a", "b"])


@pytest.mark.parametrize("cell", ["1.01", "-0.1", "nan", "", "one"])
def test_a_probability_outside_zero_to_one_fails_the_evaluation(judge: Judge, cell: str) -> None:
    with pytest.raises(DataError):
        judge("classification", ["a", "b"], ["a", "b"], {"probability": [0.5, cell]})


def test_the_baseline_knows_only_the_share_of_the_classes(judge: Judge) -> None:
    true = ["b", "b", "b", "a"]

    judged = judge("classification", ["b"] * 4, true, classes=["a", "b"], train_mean=0.75)

    assert judged.record["baseline"]["metrics"] == pytest.approx(
        {"balanced_accuracy": 0.5, "accuracy": 0.75, "auc": 0.5, "brier": 0.1875}
    )
