"""The formula: typeset, with its constants, symbols and valid domain."""

from __future__ import annotations

from collections.abc import Mapping

from sciharness_publisher.expression import Expression, names_in
from sciharness_reporting import mathml
from sciharness_reporting.document import (
    Block,
    Code,
    Formula,
    Line,
    Maths,
    Paragraph,
    Section,
    section,
    table,
)
from sciharness_reporting.findings import Candidate, Formulas
from sciharness_reporting.record import mapping, objects
from sciharness_reporting.shown import renamed, replaced, short_names, tree_of
from sciharness_reporting.story import Story
from sciharness_reporting.text import DASH, label, number, real

_DIGITS = 5


def formula(story: Story) -> Section | None:
    """Return the chosen formula and everything needed to use it."""
    formulas = story.formulas
    if formulas is None:
        return None
    chosen = formulas.choice
    if chosen is None:
        return section("formula", "The formula", Paragraph("The search chose no formula.", "warn"))
    tree = tree_of(chosen.formula)
    columns = _columns(formulas, tree)
    return section(
        "formula",
        "The formula",
        _typeset(formulas, chosen, tree, short_names(columns)),
        _symbols(story, chosen, columns),
        _outside(story),
        _constants(formulas, chosen),
        _recognised(chosen),
    )


def _columns(formulas: Formulas, tree: Expression | None) -> dict[str, str]:
    """Return the columns that a formula uses by symbol, in the order of the features."""
    places = {f"X{place}": place for place in range(1, len(formulas.features) + 1)}
    places |= {name: place for place, name in enumerate(formulas.features, start=1)}
    names = names_in(tree) if tree is not None else ()
    used = sorted(names, key=lambda name: places.get(name, 0))
    return {name: formulas.symbols.get(name, name) for name in used}


def _typeset(
    formulas: Formulas, chosen: Candidate, tree: Expression | None, names: Mapping[str, str]
) -> Block:
    target = formulas.target.split(" [")[0] or "y"
    text = f"{formulas.target} = {chosen.formula}"
    if tree is None:
        return Formula("", text, caption="This formula could not be typeset.")
    return Formula(
        mathml.equation(target, _with_plain(renamed(tree, names), chosen), _DIGITS),
        text,
        chosen.latex if _is_plain_latex(chosen.latex) else "",
        f"Typeset with constants to {_DIGITS} digits; the text holds them exactly. "
        "log is the natural logarithm, angles are in radians.",
    )


def _with_plain(tree: Expression, chosen: Candidate) -> Expression:
    """Return the formula with recognised constants as they are called, such as pi/4."""
    called: dict[float, Expression] = {}
    for one in objects(chosen.plain.get("recognised")):
        value, plain = real(one.get("value")), tree_of(label(one.get("text"), 40).lstrip("-"))
        if value and plain is not None and set(names_in(plain)) <= {"pi"}:
            called[abs(value)] = plain
    return tree if "pi" in names_in(tree) else replaced(tree, called)


def _is_plain_latex(latex: str) -> bool:
    """Return whether LaTeX can stand in a math block: one line, nothing that ends or links."""
    return bool(latex) and not any(mark in latex for mark in ("`", "$", "\n", "\\href", "\\url"))


def _symbols(story: Story, chosen: Candidate, columns: Mapping[str, str]) -> Block | None:
    units = {column.name: column.unit for column in story.visible.features} if story.visible else {}
    names = short_names(columns)
    return table(
        "Symbols and valid domain",
        ("Symbol", "In the text", "Column", "Unit", "From", "To"),
        [
            _symbol(symbol, names[symbol], column, units, chosen.domain)
            for symbol, column in columns.items()
        ],
        numeric=("From", "To"),
    )


def _symbol(
    symbol: str,
    name: str,
    column: str,
    units: Mapping[str, str],
    domain: Mapping[str, tuple[float, float]],
) -> tuple[Line, ...]:
    plain = column if column in units or column in domain else column.split(" [")[0]
    unit = units.get(plain) or column.partition(" [")[2].rstrip("]")
    low, high = domain.get(plain) or domain.get(symbol) or (None, None)
    shown = Maths(mathml.symbol(name), name)
    return (
        shown,
        Code(symbol),
        Code(plain),
        label(unit, 30),
        number(low, 6),
        number(high, 6),
    )


def _outside(story: Story) -> Block | None:
    step = story.formulas.step if story.formulas is not None else ""
    rule = mapping(story.findings.cards.get(step)).get("out_of_domain")
    if rule == "refuse":
        return Paragraph("The predictor refuses rows outside this domain.", "note")
    if rule == "flag":
        return Paragraph(
            "Outside this domain the formula extrapolates; the predictor marks such rows.", "note"
        )
    return None


def _constants(formulas: Formulas, chosen: Candidate) -> Block | None:
    rows: list[tuple[Line, ...]] = []
    for place, one in enumerate(chosen.constants, start=1):
        width = _relative_width(one.value, one.low, one.high)
        rows.append(
            (str(place), number(one.value, 6), number(one.low, 6), number(one.high, 6), width)
        )
    level = real(formulas.plain.get("confidence_level"))
    intervals = f"{number(100 * level)} % intervals" if level else "intervals"
    return table(
        f"Constants in the order of the text, with {intervals}",
        ("No.", "Value", "Low", "High", "Half-width"),
        rows,
        numeric=("No.", "Value", "Low", "High", "Half-width"),
    )


def _recognised(chosen: Candidate) -> Block | None:
    rows: list[tuple[Line, ...]] = []
    for one in objects(chosen.plain.get("recognised")):
        fitted = mapping(one.get("fitted"))
        ends = [number(real(fitted.get(name)), 6) for name in ("value", "low", "high")]
        rows.append((Code(label(one.get("text"), 40)), number(real(one.get("value")), 6), *ends))
    return table(
        "Plain values that the data cannot tell from what was fitted; a factor of 1 is not written",
        ("Plain value", "Number", "Fitted", "Low", "High"),
        rows,
        numeric=("Number", "Fitted", "Low", "High"),
    )


def _relative_width(value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None or not value:
        return DASH
    return f"±{number(abs((high / 2 - low / 2) / value) * 100, 2)} %"
