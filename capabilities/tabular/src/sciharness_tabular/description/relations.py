"""What correlations say of pairs of columns and of the target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen

from sciharness import Table
from sciharness_tabular.description.content import Array, Content
from sciharness_tabular.description.pairs import pearson, spearman
from sciharness_tabular.seeds import derived_seed

MATRIX_COLUMNS = 50  # above that only strong pairs are listed
MOST_COLUMNS = 1000  # that correlations are taken of

Json = dict[str, Any]  # Any: JSON values


@frozen(eq=False)
class Relations:
    """Pearson and Spearman correlations (columns, columns) of ``names``; NaN where undefined."""

    names: tuple[str, ...]
    linear: Array
    ranked: Array

    def strong_pairs(self, least: float) -> Iterator[Json]:
        """Yield pairs of columns whose larger correlation is strong, the strongest first."""
        size = np.fmax(np.abs(self.linear), np.abs(self.ranked))
        first, second = np.nonzero(np.triu(size >= least, 1))
        for place in np.argsort(-size[first, second], kind="stable").tolist():
            one, other = int(first[place]), int(second[place])
            yield {
                "first": self.names[one],
                "second": self.names[other],
                **self.numbers(one, other),
            }

    def numbers(self, one: int, other: int) -> Json:
        """Return the correlations of two columns by their places."""
        return {
            "pearson": _plain(self.linear[one, other]),
            "spearman": _plain(self.ranked[one, other]),
        }

    @property
    def largest(self) -> float | None:
        """Largest Pearson correlation of two columns, without its sign."""
        apart = np.abs(self.linear[np.triu_indices(len(self.linear), 1)])
        return None if not len(apart) or np.isnan(apart).all() else float(np.nanmax(apart))

    def document(self) -> Json | None:
        """Return both matrices, ``None`` of many columns."""
        if not self.names or len(self.names) > MATRIX_COLUMNS:
            return None
        matrices = {"pearson": self.linear, "spearman": self.ranked}
        plain = {name: [[_plain(one) for one in row] for row in m] for name, m in matrices.items()}
        return {"columns": list(self.names), **plain}


def relations_of(content: Content, rank_rows: int, seed: int) -> Relations:
    """Return the correlations of columns of numbers; ranks of at most ``rank_rows`` rows."""
    used = tuple(content.numbers)[:MOST_COLUMNS]
    if not used or content.rows < 2:
        return Relations((), np.empty((0, 0)), np.empty((0, 0)))
    values = np.stack([content.numbers[name] for name in used], axis=1)
    sample = values
    if content.rows > rank_rows:
        random = np.random.default_rng(derived_seed(seed, 5))
        sample = values[np.sort(random.permutation(content.rows)[:rank_rows])]
    return Relations(used, pearson(values), spearman(sample))


def target_document(table: Table | None, content: Content, relations: Relations) -> Json | None:
    """Return what is known of the target: its classes, or how features go with it."""
    if table is None or table.target not in content.names:
        return None
    facts: Json = {"name": table.target, "task": table.task}
    if table.task == "classification":
        return {**facts, "classes": _classes(table.target, content)}
    found = []
    if table.target in relations.names:
        at = relations.names.index(table.target)
        found = [
            {"feature": name, **relations.numbers(at, place)}
            for place, name in enumerate(relations.names)
            if name in table.features
        ]
    found.sort(key=lambda one: -max(abs(one["pearson"] or 0.0), abs(one["spearman"] or 0.0)))
    return {**facts, "correlations": found}


def _classes(target: str, content: Content) -> list[Json]:
    """Return the classes of the target with their counts, the most frequent first."""
    if target in content.texts:
        texts = content.texts[target]
        counts = np.bincount(texts.codes[texts.codes >= 0], minlength=len(texts.values))
        found = list(zip(texts.values, counts.tolist(), strict=True))
    else:
        values = content.numbers[target]
        names, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        found = [(f"{n:g}", c) for n, c in zip(names.tolist(), counts.tolist(), strict=True)]
    found.sort(key=lambda one: (-one[1], one[0]))
    total = sum(count for _, count in found)
    return [{"class": name, "count": count, "share": count / total} for name, count in found]


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
