"""The records of a research contract, as every later step reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

SCHEMA = "research-contract-v1"

ROLES = (
    "labelled_table",
    "table",
    "lattice",
    "particles",
    "context_data",
    "guesses",
    "reference_solver",
    "predictor",
    "other",
)

OPERATORS = ("<=", "<", ">=", ">", "==")

COUNTED_BUDGET_KEYS = (
    "actions",
    "experiments",
    "failures",
    "solver_calls",
    "training_runs",
    "training_samples",
    "model_calls",
    "model_tokens",
    "reasoner_calls",
    "reasoner_tokens",
    "code_generations",
    "code_repairs",
    "repair_attempts",
)

BUDGET_KEYS = (*COUNTED_BUDGET_KEYS, "cpu_hours", "gpu_hours", "wall_time")


@frozen
class ContractInput:
    """One input: a file or folder beside the contract and how to read it.

    ``directory`` says that it has to be a context.data directory. One with a
    target is read as a table, so its role is then ``labelled_table``.
    """

    name: str
    path: str
    role: str = "other"
    task: str = "regression"
    target: str | None = None
    features: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    weights: str | None = None
    sigma: str | None = None
    units: Mapping[str, str] = field(factory=dict)
    missing: str = "refuse"
    solver: Mapping[str, Any] | None = None  # Any: JSON values, checked by the solver capability
    directory: bool = False


@frozen
class Criterion:
    """An acceptance criterion: a metric compared with a threshold."""

    metric: str
    op: str
    value: float
    trusted: bool = False


@frozen
class ConstraintRule:
    """``require`` has to hold for a request whose fields equal ``when``."""

    when: Mapping[str, Any]  # Any: JSON values
    require: Mapping[str, Any]


@frozen
class Workflow:
    """Completion conditions beyond the criteria."""

    hypothesis_verification: bool = False
    required_artifacts: tuple[str, ...] = ()
    final_predictor: bool = False


@frozen
class Permissions:
    """Switches that only a person sets; nothing is inferred from prose."""

    reuse_generated_code: bool = False
    publish_plugins: bool = False
    symbolic_baseline: bool = False


@frozen
class Holdout:
    """How the final rows are set apart; ``mode`` names the rule.

    ``mode`` is ``fraction``, ``group``, ``order``, ``generated`` or ``none``.
    ``fraction`` is the share of final rows (of final groups for ``group``);
    ``verification`` the share of all rows shown to verification steps only.
    """

    mode: str = "fraction"
    fraction: float = 0.2
    seed: int = 0
    max_queries: int = 1
    group: str | None = None
    verification: float | None = None
    generated_by: str | None = None


@frozen
class Step:
    """One step of the recipe: a capability with its inputs and parameters."""

    id: str
    use: str
    inputs: Mapping[str, str] = field(factory=dict)
    params: Mapping[str, Any] = field(factory=dict)  # Any: JSON values; ``with`` in the contract


@frozen
class Choice:
    """A reasoner or an executor: a built-in name, or a plugin's operation with options."""

    use: str
    options: Mapping[str, Any] = field(factory=dict)  # Any: JSON values


@frozen
class Publication:
    """Identity of one package to publish."""

    id: str
    version: str | None = None
    install: bool = False


@frozen
class Contract:
    """A complete research contract with all defaults filled in.

    ``budget`` maps budget keys to limits (``wall_time`` in seconds); a missing
    key is not limited. ``steps`` is ``None`` when the recipe derives them.
    ``publish`` maps a deliverable to its identity.
    """

    title: str
    goal: str
    capabilities: tuple[str, ...]
    acceptance: tuple[Criterion, ...]
    questions: tuple[str, ...] = ()
    inputs: tuple[ContractInput, ...] = ()
    constraints: Mapping[str, tuple[ConstraintRule, ...]] = field(factory=dict)
    workflow: Workflow = Workflow()
    permissions: Permissions = Permissions()
    budget: Mapping[str, float] = field(factory=dict)
    holdout: Holdout = Holdout()
    executor: Choice = Choice("local")
    reasoner: Choice = Choice("recipe")
    steps: tuple[Step, ...] | None = None
    deliver: tuple[str, ...] = ()
    publish: Mapping[str, Publication] = field(factory=dict)
    seed: int = 0
