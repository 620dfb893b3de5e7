"""Which column of a table is what: the contract's words against the header."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import field, frozen

from sciharness.contract.findings import suggest
from sciharness.contract.records import ContractInput
from sciharness.plugin import Table
from sciharness.tables.findings import Findings
from sciharness.tables.names import SAMPLE_ID, column_name, unit_of
from sciharness.tables.records import Dialect

LABELLED = "labelled_table"


@frozen
class Columns:
    """Places of the used columns in the header; ``None`` where there is none.

    ``guessed`` says that ``features`` are candidates only: of a table without
    a target those columns are features whose fields are all numbers.
    """

    names: tuple[str, ...]
    features: tuple[int, ...]
    target: int | None = None
    weights: int | None = None
    sigma: int | None = None
    group: int | None = None
    sample_id: int | None = None
    task: str = "regression"
    missing: str = "refuse"
    guessed: bool = False
    reason: str = ""
    ignore: tuple[str, ...] = ()
    units: Mapping[str, str] = field(factory=dict)

    @property
    def target_is_number(self) -> bool:
        """Whether the target is read as a number."""
        return self.target is not None and self.task == "regression"

    @property
    def numbers(self) -> tuple[int, ...]:
        """Columns that are read as numbers: features first, then target, weights, sigma."""
        others = [self.target] if self.target_is_number else []
        others += [self.weights, self.sigma]
        return self.features + tuple(column for column in others if column is not None)

    def table(self, dialect: Dialect, features: Sequence[int], classes: Iterable[str]) -> Table:
        """Return the record that goes with the table's files."""
        return Table(
            target=self._name(self.target),
            features=tuple(self.names[column] for column in features),
            ignore=self.ignore,
            weights=self._name(self.weights),
            sigma=self._name(self.sigma),
            units=dict(self.units),
            group=self._name(self.group),
            task=self.task,
            classes=tuple(classes),
            sample_id=self._name(self.sample_id),
            missing=self.missing,
            dialect=dialect.to_dict(),
        )

    def _name(self, column: int | None) -> str | None:
        return None if column is None else self.names[column]


def resolve(
    names: tuple[str, ...], spec: ContractInput, group: str | None, findings: Findings
) -> Columns:
    """Return what each column is; every contradiction is noted in ``findings``.

    The target is the named one, else the last column that is not
    ``sample_id``; features are the named ones, else all columns that have no
    other part.
    """
    find = _Finder(names, findings)
    sample_id = names.index(SAMPLE_ID) if SAMPLE_ID in names else None
    ignore = find.all("ignore", spec.ignore)
    parts = {
        "weights": find.one("weights", spec.weights),
        "sigma": find.one("sigma", spec.sigma),
        "holdout.group": find.one("holdout.group", group),
    }
    target, reason = _target(find, spec, names)
    chosen = {"target": target, **parts}
    _note_clashes(find, chosen, ignore, sample_id)
    taken = {column for column in (*chosen.values(), *ignore, sample_id) if column is not None}
    if spec.features is None:
        features = [column for column in range(len(names)) if column not in taken]
    else:
        features = find.all("features", spec.features)
        _note_taken_features(find, features, chosen, ignore, sample_id)
        features = [column for column in features if column not in taken]
    if not features and not findings.count:
        findings.add("features", "no column left", "at least one feature", field="features")
    return Columns(
        names=names,
        features=tuple(features),
        target=target,
        weights=parts["weights"],
        sigma=parts["sigma"],
        group=parts["holdout.group"],
        sample_id=sample_id,
        task=spec.task,
        missing=spec.missing,
        guessed=spec.role != LABELLED and spec.features is None and target is None,
        reason=reason,
        ignore=tuple(names[column] for column in ignore),
        units=_units(find, spec, names),
    )


class _Finder:
    """Finds columns by name and notes names that are not there."""

    def __init__(self, names: tuple[str, ...], findings: Findings) -> None:
        self.names = names
        self.findings = findings

    def one(self, part: str, name: str | None) -> int | None:
        if name is None:
            return None
        wanted = column_name(name)
        if wanted in self.names:
            return self.names.index(wanted)
        self.findings.add(
            "unknown",
            repr(name),
            f"a column of {self.findings.file}",
            suggest_column(wanted, self.names),
            field=part,
        )
        return None

    def all(self, part: str, names: Iterable[str]) -> list[int]:
        found: list[int] = []
        for name in names:
            column = self.one(part, name)
            if column in found:
                self.clash(part, f"{name!r} twice", "each column once")
            elif column is not None:
                found.append(column)
        return found

    def clash(self, part: str, found: str, expected: str, hint: str = "") -> None:
        self.findings.add("part", found, expected, hint, field=part)


def suggest_column(name: str, names: Sequence[str]) -> str:
    """Return a hint for an unknown column name; a name without its unit is known again."""
    for known in names:
        if unit_of(known) and known[: known.rindex("[")].strip() == name:
            return f"Did you mean `{known}`?"
    return suggest(name, names, "Columns")


def _target(find: _Finder, spec: ContractInput, names: tuple[str, ...]) -> tuple[int | None, str]:
    if spec.target is not None:
        return find.one("target", spec.target), "named in the contract"
    if spec.role != LABELLED:
        return None, ""
    places = [place for place, name in enumerate(names) if name != SAMPLE_ID]
    if len(places) < 2:
        find.clash(
            "target",
            f"{len(names)} column{'s' if len(names) != 1 else ''}",
            "a target and at least one feature",
            "Columns are separated by comma, semicolon or tab.",
        )
        return None, ""
    return places[-1], "the last column that is not sample_id"


def _note_clashes(
    find: _Finder, chosen: Mapping[str, int | None], ignore: list[int], sample_id: int | None
) -> None:
    seen: dict[int, str] = {}
    for part, column in chosen.items():
        if column is None:
            continue
        name = find.names[column]
        if column == sample_id and part != "holdout.group":
            find.clash(part, f"{name!r}", "a column other than sample_id")
        elif column in ignore:
            hint = "Name the target in the contract." if part == "target" else ""
            find.clash(part, f"{name!r}, which is in ignore", "a column that is not ignored", hint)
        elif column in seen and {seen[column], part} != {"target", "holdout.group"}:
            find.clash(part, f"{name!r}, which is the {seen[column]} column", "another column")
        elif column in seen:
            find.clash(part, f"the target {name!r}", "a column that groups rows")
        seen[column] = part


def _note_taken_features(
    find: _Finder,
    features: list[int],
    chosen: Mapping[str, int | None],
    ignore: list[int],
    sample_id: int | None,
) -> None:
    for column in features:
        name = find.names[column]
        parts = [part for part, taken in chosen.items() if taken == column]
        if parts:
            find.clash("features", f"{name!r}, which is the {parts[0]} column", "other columns")
        elif column == sample_id:
            find.clash("features", "'sample_id'", "other columns", "It only names the rows.")
        elif column in ignore:
            find.clash("features", f"{name!r}, which is in ignore too", "one of the two")


def _units(find: _Finder, spec: ContractInput, names: tuple[str, ...]) -> dict[str, str]:
    units = {name: unit for name in names if (unit := unit_of(name)) is not None}
    for name, unit in spec.units.items():
        column = find.one("units", name)
        if column is None:
            continue
        known = units.setdefault(names[column], unit)
        if known != unit:
            find.clash("units", f"{unit!r} for {name!r}", f"{known!r} as in the column's name")
    return units
