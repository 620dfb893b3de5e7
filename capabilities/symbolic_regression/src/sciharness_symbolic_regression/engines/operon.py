"""Genetic programming by Operon, through its native classes.

Operon works in single precision throughout, so columns and target are brought
to unit scale before and mapped back after; its final linear scaling, its model
choice and its text output are not used. Stated behaviour is that of pyoperon 0.6.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_publisher.expression import (
    Binary,
    Call,
    Expression,
    Name,
    Negative,
    Number,
    render,
)
from sciharness_symbolic_regression.engines.base import Attempt, Findings, Report
from sciharness_symbolic_regression.samples.sample import Sample

Array = NDArray[np.float64]

# request operator -> native node type; fmin and fmax are swapped in 0.6.2, so they are not offered
NATIVE: Mapping[str, str] = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "pow": "Pow", "square": "Square",
    "sqrt": "Sqrt", "cbrt": "Cbrt", "exp": "Exp", "log": "Log", "sin": "Sin", "cos": "Cos",
    "tan": "Tan", "tanh": "Tanh", "abs": "Abs", "asin": "Asin", "acos": "Acos", "atan": "Atan",
    "sinh": "Sinh", "cosh": "Cosh",
}  # fmt: skip
JOINED = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Pow": "**"}
POPULATION = 1000
TOURNAMENT = 5
MAX_DEPTH = 10
EXACT = 1e-11  # 1 - R2 that single precision cannot improve on
EXTRA_GENERATIONS = 8  # after an exact fit, to find a shorter one
REPORT_SECONDS = 0.5


class Operon:
    """The default engine: two objectives, error and length, so a whole front comes back."""

    name = "operon"
    operators = frozenset(NATIVE)

    def unavailable(self) -> str | None:
        """Return why pyoperon cannot be used, or None."""
        if find_spec("pyoperon") is None:
            return "pyoperon is not installed; run `pip install pyoperon`"
        return None

    def search(self, sample: Sample, attempt: Attempt, report: Report) -> Findings:
        """Run one population for ``attempt.max_evaluations`` and return its front."""
        import pyoperon  # native code: only ever loaded in the search's own process

        scales = Scales.of(sample)
        return _Run(pyoperon, scales.table(sample), scales, attempt, report).findings()


@frozen(eq=False)
class Scales:
    """How columns and target are brought to unit scale.

    Columns are divided only, since that keeps power laws; a column whose spread
    single precision would lose beside its mean is centred as well.
    """

    symbols: tuple[str, ...]
    centres: Array
    widths: Array
    target_centre: float
    target_width: float

    @classmethod
    def of(cls, sample: Sample) -> Scales:
        """Return the scales that fit a sample."""
        centres, widths = [], []
        for column in sample.columns.values():
            spread, size = float(column.std()), float(np.abs(column).max())
            centred = spread < 1e-3 * size
            centres.append(float(column.mean()) if centred else 0.0)
            width = spread if centred else float(np.sqrt(np.mean(np.square(column))))
            widths.append(width or 1.0)
        return cls(
            sample.symbols,
            np.array(centres),
            np.array(widths),
            float(sample.target.mean()),
            sample.spread,
        )

    def table(self, sample: Sample) -> Array:
        """Return scaled columns and target side by side, shape (rows, columns + 1)."""
        columns = np.column_stack(list(sample.columns.values()))
        target = (sample.target - self.target_centre) / self.target_width
        return np.column_stack([(columns - self.centres) / self.widths, target])

    def column(self, index: int, weight: float) -> Expression:
        """Return weight times the scaled column in terms of the original one."""
        name: Expression = Name(self.symbols[index])
        if self.centres[index]:
            name = Binary("-", name, Number(float(self.centres[index])))
        return Binary("*", Number(weight / float(self.widths[index])), name)

    def target(self, tree: Expression, slope: float, offset: float) -> Expression:
        """Return the original target from a tree that predicts the scaled one."""
        width = self.target_width
        scaled = Binary("*", Number(slope * width), tree)
        return Binary("+", scaled, Number(offset * width + self.target_centre))


class _Run:
    """One population; keeps every native object alive as long as the algorithm runs."""

    def __init__(
        self, op: Any, table: Array, scales: Scales, attempt: Attempt, report: Report
    ) -> None:
        self._op, self._scales, self._attempt, self._report = op, scales, attempt, report
        self._target = table[:, -1]
        self._data = op.Dataset(np.asfortranarray(table))
        self._variables = sorted(self._data.Variables, key=lambda variable: variable.Index)
        self._index = {variable.Hash: i for i, variable in enumerate(self._variables)}
        self._dispatch = op.DispatchTable()
        self._kept: list[Any] = []
        self._inputs = [variable.Hash for variable in self._variables[:-1]]
        self._problem = self._make_problem()
        self._primitives = self._problem.PrimitiveSet
        self._evaluator = self._make_evaluator()
        self._algorithm = self._make_algorithm()
        self._exact_for = 0
        self._reported = time.monotonic()

    def findings(self) -> Findings:
        """Run to the bound and return the front."""
        random = self._op.RandomGenerator(np.uint64(self._attempt.seed))
        self._algorithm.Run(random, self._after_generation, 1, False)
        return self._front()

    def _after_generation(self) -> None:
        error = self._best_error()
        self._exact_for += error <= EXACT
        if self._exact_for > EXTRA_GENERATIONS:
            self._evaluator.Budget = 1  # the one way to stop 0.6.2 between generations
        if time.monotonic() - self._reported > REPORT_SECONDS:
            self._report(self._front())
            self._reported = time.monotonic()

    def _best_error(self) -> float:
        front = self._algorithm.BestFront
        return min((1.0 + float(one.GetFitness(0)) for one in front), default=1.0)

    def _front(self) -> Findings:
        formulas: dict[str, None] = {}
        for individual in self._algorithm.BestFront:
            tree = self._read(individual.Genotype)
            if tree is not None:
                formulas[render(tree)] = None
        error = max(self._best_error(), 0.0)
        spent = self._evaluator.ResidualEvaluations + self._evaluator.JacobianEvaluations
        return Findings(tuple(formulas), int(spent), error**0.5, error <= EXACT)

    def _read(self, genotype: Any) -> Expression | None:
        """Return the tree in original units, with the best linear map to the target."""
        rows = self._op.Range(0, self._data.Rows)
        found = np.asarray(self._op.Evaluate(self._dispatch, genotype, self._data, rows))
        found = found.reshape(-1).astype(np.float64)
        if not np.isfinite(found).all():
            return None
        centred = found - found.mean()
        power = float((centred * centred).sum())
        slope = float((centred * self._target).sum()) / power if power > 0 else 0.0
        offset = float(self._target.mean() - slope * found.mean())
        if not np.isfinite([slope, offset]).all():
            return None
        return self._scales.target(_tree(genotype.Nodes, self._leaf), slope, offset)

    def _leaf(self, node: Any) -> Expression:
        if node.IsConstant:
            return Number(float(node.Value))
        return self._scales.column(self._index[node.HashValue], float(node.Value))

    def _make_problem(self) -> Any:
        op = self._op
        problem = op.Problem(self._data)
        problem.TrainingRange = op.Range(0, self._data.Rows)
        problem.TestRange = op.Range(self._data.Rows - 1, self._data.Rows)
        problem.Target = self._variables[-1]
        problem.InputHashes = self._inputs
        symbols = op.NodeType.Constant | op.NodeType.Variable
        for name in self._attempt.operators:
            symbols |= getattr(op.NodeType, NATIVE[name])
        problem.ConfigurePrimitiveSet(symbols)
        return problem

    def _make_evaluator(self) -> Any:
        op = self._op
        measure = op.R2() if self._attempt.loss == "squared" else op.MAE()
        both = [op.Evaluator(self._problem, self._dispatch, measure, True)]
        both.append(op.LengthEvaluator(self._problem))
        joint = op.MultiEvaluator(self._problem)
        for evaluator in (*both, joint):
            evaluator.Budget = self._attempt.max_evaluations
        for evaluator in both:
            joint.Add(evaluator)
        self._kept += [measure, both]
        return joint

    def _make_algorithm(self) -> Any:
        op, attempt = self._op, self._attempt
        creator = op.BalancedTreeCreator(self._primitives, self._inputs, 0.0)
        coefficients = op.NormalCoefficientInitializer()
        coefficients.ParameterizeDistribution(0, 1)
        comparison = op.CrowdedComparison()
        config = op.GeneticAlgorithmConfig(
            generations=10**6,
            max_evaluations=attempt.max_evaluations,
            local_iterations=1,
            population_size=POPULATION,
            pool_size=POPULATION,
            p_crossover=1.0,
            p_mutation=0.25,
            p_local=1.0,
            p_lamarck=1.0,
            epsilon=1e-6,
            seed=attempt.seed,
            max_time=10**6,
        )
        parts = (
            self._make_trees(creator),
            coefficients,
            self._make_generator(creator, coefficients, comparison),
            op.KeepBestReinserter(comparison),
            op.RankSorter(),
        )
        self._kept += [creator, comparison, config, parts]
        return op.NSGA2Algorithm(config, self._problem, *parts)

    def _make_trees(self, creator: Any) -> Any:
        smallest, _ = self._primitives.FunctionArityLimits()
        trees = self._op.UniformLengthTreeInitializer(creator)
        longest = max(smallest + 1, min(10, self._attempt.max_complexity))
        trees.ParameterizeDistribution(smallest + 1, longest)
        trees.MinDepth, trees.MaxDepth = 1, 1000
        return trees

    def _make_generator(self, creator: Any, coefficients: Any, comparison: Any) -> Any:
        op, length = self._op, self._attempt.max_complexity
        selectors = [op.TournamentSelector(comparison) for _ in range(2)]
        for selector in selectors:
            selector.TournamentSize = TOURNAMENT
        crossover = op.SubtreeCrossover(0.9, MAX_DEPTH, length)
        mutation = self._make_mutation(creator, coefficients, length)
        optimizer = op.LMOptimizer(self._dispatch, self._problem, 1, 0)
        local = op.CoefficientOptimizer(optimizer)
        self._kept += [selectors, crossover, mutation, optimizer, local]
        return op.BasicOffspringGenerator(self._evaluator, crossover, mutation, *selectors, local)

    def _make_mutation(self, creator: Any, coefficients: Any, length: int) -> Any:
        op = self._op
        one, several = op.NormalOnePointMutation(), op.NormalMultiPointMutation()
        for point in (one, several):
            point.ParameterizeDistribution(0, 1)
        discrete = op.DiscretePointMutation()
        for constant in op.Math.Constants:
            discrete.Add(constant, 1.0)
        kinds = [
            one,
            several,
            discrete,
            op.ChangeVariableMutation(self._inputs),
            op.ChangeFunctionMutation(self._primitives),
            op.ReplaceSubtreeMutation(creator, coefficients, MAX_DEPTH, length),
            op.InsertSubtreeMutation(creator, coefficients, MAX_DEPTH, length),
            op.RemoveSubtreeMutation(self._primitives),
        ]
        mixed = op.MultiMutation()
        for kind in kinds:
            mixed.Add(kind, 1.0)
        self._kept += kinds
        return mixed


def _tree(nodes: Any, leaf: Any) -> Expression:
    """Return the tree of a postfix list; a node's operands stand before it, the first last."""
    stack: list[Expression] = []
    for node in nodes:
        if node.IsLeaf:
            stack.append(leaf(node))
            continue
        operands = [stack.pop() for _ in range(node.Arity)]
        stack.append(_joined(str(node.Type).rpartition(".")[2], operands))
    return stack[0]


def _joined(kind: str, operands: list[Expression]) -> Expression:
    first, *others = operands
    if kind == "Square":
        return Binary("**", first, Number(2.0))
    if kind not in JOINED:
        return Call(kind.lower(), first)
    if not others and kind == "Sub":
        return Negative(first)
    if not others and kind == "Div":
        return Binary("/", Number(1.0), first)
    tree = first
    for operand in others:
        tree = Binary(JOINED[kind], tree, operand)
    return tree
