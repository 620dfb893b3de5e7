"""A strict judge: is this formula the law, written in about the same size?

Closeness alone never counts. A formula is the law if, after constants without
effect are dropped and SymPy has simplified it, its size is like the law's and
fitting its remaining constants to the noiseless law gives that law to 1e-6 on
a box that is a quarter wider on each side than the data.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_publisher.expression import Binary, Call, Expression, Name, Negative, Number

Array = NDArray[np.float64]
Sym = Any  # a SymPy object; SymPy has no types

CLOSE = 1e-3  # relative error inside the box, or the noise if that is larger
EQUAL = 1e-6  # what a refit has to leave at most, relative to the law's spread
WIDER = 0.25
GROWTH, ALLOWANCE = 1.25, 6  # largest size after simplification: factor and nodes on top
INSIDE, OUTSIDE = 600, 800
SECONDS = 6.0


@frozen
class Verdict:
    """Whether the law was found, why (not), and the error inside the box."""

    recovered: bool
    why: str
    error: float


class _Late(BaseException):
    """Time is up; no Exception, since SymPy catches those."""


def judge(
    found: Expression, law: Expression, box: dict[str, tuple[float, float]], noise: float
) -> Verdict:
    """Return the verdict on a formula whose columns run over ``box``."""
    import sympy

    names = list(box)
    symbols = [sympy.Symbol(f"v{place}", real=True) for place in range(len(names))]
    known = dict(zip(names, symbols, strict=True))
    case = _Case(symbols, _points(box, 0.0, INSIDE), _points(box, WIDER, OUTSIDE), noise)
    return case.verdict(_sympy(found, known), _sympy(law, known))


@frozen(eq=False)
class _Case:
    symbols: list[Sym]
    inside: Array
    outside: Array
    noise: float

    def verdict(self, found: Sym, law: Sym) -> Verdict:
        wanted = self.values(law, self.inside)
        inside = np.isfinite(wanted)
        got = self.values(found, self.inside)
        if not np.isfinite(got[inside]).all():
            return Verdict(False, "not defined inside the box", float("inf"))
        gap = np.sqrt(np.mean((got - wanted)[inside] ** 2))
        error = float(gap / (wanted[inside].std() or 1.0))
        if error > max(CLOSE, self.noise):
            return Verdict(False, f"misses the law by {error:.1e}", error)
        size = min(map(nodes, _forms(law)))
        if nodes(found) > 4 * (size + 4):
            return Verdict(False, f"{nodes(found)} nodes where the law has {size}", error)
        return self.refitted(found, law, size, error)

    def refitted(self, found: Sym, law: Sym, size: int, error: float) -> Verdict:
        why = "no form of like size"
        for form in _forms(found)[:3]:
            with _limit(SECONDS):
                form = min(_forms(self.pruned(form)), key=nodes)
            if nodes(form) > GROWTH * size + ALLOWANCE:
                why = f"{nodes(form)} nodes where the law has {size}"
                continue
            left = self.left_after_refit(form, law)
            why = f"a refit leaves {left:.0e}, {nodes(form)} nodes, law {size}"
            if left <= EQUAL:
                return Verdict(True, why, error)
        return Verdict(False, why, error)

    def pruned(self, form: Sym) -> Sym:
        """Return the form without small constants that hardly change its values."""
        base = self.values(form, self.inside)
        allowed = (2e-4 + 0.02 * self.noise) * (np.nanstd(base) or 1.0)
        changed = True
        while changed:
            changed = False
            open_form, places, constants = _opened(form)
            for place, constant in zip(places, constants, strict=True):
                if abs(constant) >= 1e-2:
                    continue
                others = dict(zip(places, constants, strict=True)) | {place: 0}
                less = open_form.subs(others)
                gap = self.values(less, self.inside) - base
                known = np.isfinite(base)
                if np.isfinite(gap[known]).all() and np.sqrt(np.mean(gap[known] ** 2)) < allowed:
                    form, changed = less, True
                    break
        return form

    def left_after_refit(self, form: Sym, law: Sym) -> float:
        """Return the relative error on the wider box after all constants are fitted to the law."""
        import sympy
        from scipy.optimize import least_squares

        wanted = self.values(law, self.outside)
        rows = np.isfinite(wanted)
        points, target = self.outside[rows], wanted[rows]
        open_form, places, constants = _opened(form)
        function = sympy.lambdify([*self.symbols, *places], open_form, "numpy")
        spread = target.std() or 1.0

        def misfit(theta: Array) -> Array:
            with np.errstate(all="ignore"):
                got = np.asarray(function(*points.T, *theta), dtype=complex)
            got = np.broadcast_to(got, target.shape)
            sound = np.isfinite(got) & (np.abs(got.imag) < 1e-9)
            return np.where(sound, got.real - target, 1e6) / spread

        theta = np.array(constants, dtype=np.float64)
        if len(theta):
            with _limit(SECONDS):
                theta = least_squares(
                    misfit, theta, x_scale=np.maximum(np.abs(theta), 1e-6), max_nfev=400,
                    xtol=1e-15, ftol=1e-15, gtol=1e-15,
                ).x  # fmt: skip
        return float(np.sqrt(np.mean(misfit(theta) ** 2)))

    def values(self, form: Sym, points: Array) -> Array:
        import sympy

        function = sympy.lambdify(self.symbols, form, "numpy")
        with np.errstate(all="ignore"):
            found = np.asarray(function(*points.T), dtype=complex)
        found = np.broadcast_to(found, (len(points),))
        return np.where(np.abs(found.imag) < 1e-9, found.real, np.nan)


def nodes(form: Sym) -> int:
    """Return the size of a SymPy form: an n-ary sum or product counts n - 1 operators."""
    import sympy

    if not form.args:
        return 1
    joined = isinstance(form, sympy.Add | sympy.Mul)
    return (len(form.args) - 1 if joined else 1) + sum(map(nodes, form.args))


def _forms(form: Sym) -> list[Sym]:
    """Return ways to write a form, shortest first."""
    import sympy

    found = {form}
    for change in (
        lambda one: sympy.expand(one, log=False, power_exp=False, power_base=False),
        sympy.together,
        lambda one: sympy.cancel(sympy.together(one)),
        sympy.simplify,
    ):
        try:
            with _limit(SECONDS / 2):
                found.add(change(form))
        except Exception:  # noqa: BLE001  SymPy raises all sorts of things
            continue
    return sorted((one for one in found if not one.has(sympy.nan, sympy.zoo, sympy.oo)), key=nodes)


def _opened(form: Sym) -> tuple[Sym, list[Sym], list[float]]:
    """Return the form with constants as symbols; plain exponents and 0, 1, -1 stay."""
    import sympy

    places: list[Sym] = []
    constants: list[float] = []

    def open_up(one: Sym) -> Sym:
        structural = one.is_Integer and abs(one) <= 1
        if (one.is_Number and not structural) or one is sympy.pi:
            constants.append(float(one))
            places.append(sympy.Symbol(f"c{len(places)}", real=True))
            return places[-1]
        if isinstance(one, sympy.Pow) and one.exp.is_Rational and not one.exp.is_Float:
            return open_up(one.base) ** one.exp
        return one.func(*map(open_up, one.args)) if one.args else one

    return open_up(form), places, constants


def _points(box: dict[str, tuple[float, float]], wider: float, count: int) -> Array:
    random = np.random.default_rng(99)
    low, high = np.array(list(box.values()), dtype=np.float64).T
    width = high - low
    if wider:
        low = np.where(low >= 0, np.maximum(low / 2, 1e-3), low - wider * width)
        high = high + wider * width
    return random.uniform(low, high, (count, len(low)))


def _sympy(tree: Expression, known: dict[str, Sym]) -> Sym:
    import sympy

    if isinstance(tree, Number):
        whole = float(tree.value).is_integer() and abs(tree.value) < 1e6
        near = sympy.nsimplify(tree.value, rational=True, tolerance=1e-15)
        small = near.is_Rational and near.q <= 12 and abs(near) <= 12
        return (
            sympy.Integer(int(tree.value)) if whole else near if small else sympy.Float(tree.value)
        )
    if isinstance(tree, Name):
        return known[tree.name]
    if isinstance(tree, Negative):
        return -_sympy(tree.operand, known)
    if isinstance(tree, Call):
        name = {"abs": "Abs"}.get(tree.function, tree.function)
        return getattr(sympy, name)(_sympy(tree.argument, known))
    return _joined(tree, _sympy(tree.left, known), _sympy(tree.right, known))


def _joined(tree: Binary, left: Sym, right: Sym) -> Sym:
    if tree.operator == "+":
        return left + right
    if tree.operator == "-":
        return left - right
    if tree.operator == "*":
        return left * right
    return left / right if tree.operator == "/" else left**right


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Leave the block quietly when time is up; main thread only."""

    def late(number: int, frame: FrameType | None) -> None:
        raise _Late

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _Late:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
