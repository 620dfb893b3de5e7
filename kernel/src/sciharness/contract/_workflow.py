"""Workflow, permissions, deliverables, budget: whether the plan can satisfy them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sciharness.contract._criteria import TASK_COMPLETION
from sciharness.contract._matching import VERIFICATION_GROUP, makes_predictor, wants_predictor
from sciharness.contract.artifact_types import ARTIFACT_TYPES, HYPOTHESIS_KINDS, KERNEL_KINDS
from sciharness.contract.fields import DELIVERABLES
from sciharness.contract.findings import Findings, suggest
from sciharness.contract.leases import Lease
from sciharness.contract.paths import DocumentPath
from sciharness.contract.records import Contract
from sciharness.contract.steps import FINAL_DATA, FINAL_EVALUATION, VISIBLE_EVALUATION, Plan
from sciharness.errors import HarnessError
from sciharness.plugin import InputSpec
from sciharness.plugins import PARTS
from sciharness.requests import check_request


def check_workflow(
    contract: Contract, leases: Mapping[str, Lease], plan: Plan, findings: Findings
) -> None:
    """Note completion conditions that nothing in the plan could satisfy."""
    _check_kinds(contract, leases, plan, findings)
    if contract.workflow.final_predictor and plan.complete:
        _check_predictor(leases, plan, findings)
    _check_completion(leases, contract, findings)
    _check_labels_grant(contract, leases, plan, findings)


def check_delivery(
    contract: Contract, deliverables: Collection[str] | None, findings: Findings
) -> None:
    """Note deliverables without the permission or without a publisher."""
    for index, name in enumerate(contract.deliver):
        path = findings.spot("deliver", index, name)
        if not contract.permissions.publish_plugins:
            hint = "Set permissions: {publish_plugins: true} if that is wanted."
            expected = "the permission publish_plugins"
            findings.problem(path, found=f"{name} without it", expected=expected, hint=hint)
        if deliverables is not None and name not in deliverables:
            expected = "something an installed publisher makes"
            findings.problem(path, found=name, expected=expected, hint=suggest(name, deliverables))
    for name in contract.publish:
        if contract.publish[name].install and name not in DELIVERABLES:
            found = f"install: true for {name}"
            expected = f"it only for {' or '.join(DELIVERABLES)}"
            findings.problem(("publish", name, "install"), found=found, expected=expected)
        if name not in contract.deliver:
            found = f"an identity for {name}, which `deliver` does not ask for"
            findings.warn(("publish",), found=found, hint=f"Add deliver: [{name}] if it is wanted.")


def check_choices(
    contract: Contract,
    known: Mapping[str, Collection[str]],
    roles: Mapping[str, Lease | HarnessError],
    findings: Findings,
) -> None:
    """Note an executor or a reasoner that cannot be had here, or with other options than it has.

    ``known`` maps each part to the names that come with the kernel; ``roles``
    holds what a plugin's choice was found to be.
    """
    for part, choice in (("executor", contract.executor), ("reasoner", contract.reasoner)):
        role = roles.get(part)
        if isinstance(role, HarnessError):
            found = role.message if choice.use in role.message else f"{choice.use}: {role.message}"
            findings.problem((part,), found=found, hint=role.hint, kind=role.kind)
        elif role is not None:
            problems = check_request(role.operation.request_schema, choice.options)
            findings.adopt(problems, (part,))
        elif choice.use not in known[part]:
            hint = suggest(choice.use, known[part], "Known")
            found, expected = f"the {part} {choice.use}", f"an installed {part}"
            findings.problem((part,), found=found, expected=expected, hint=hint)
        elif choice.options and choice.use in PARTS.values():
            named = ", ".join(sorted(choice.options))
            found = f"options of {choice.use}: {named}"
            findings.problem((part,), found=found, expected="none, it has no options")
    if contract.reasoner.use != PARTS["reasoner"]:
        _check_proposed(contract, findings)


def warn_unused(
    contract: Contract, leases: Mapping[str, Lease], plan: Plan, findings: Findings
) -> None:
    """Warn of leases, inputs and limits that a careful person would look at again."""
    used = {step.operation for step in plan.steps}
    for index, name in enumerate(contract.capabilities):
        if name in used or name not in leases or not plan.complete:
            continue
        group = leases[name].operation.group
        hint = "It is leased, but no step uses it."
        if group == VERIFICATION_GROUP and not contract.workflow.hypothesis_verification:
            hint = "It runs only with workflow: {hypothesis_verification: true}."
        findings.warn(
            findings.spot("capabilities", index, name), found=f"{name} not used", hint=hint
        )
    _warn_untrusted(contract, leases, plan, findings)
    bound = {binding.name for step in plan.steps for binding in step.bindings.values()}
    for index, item in enumerate(contract.inputs):
        if plan.complete and item.name not in bound:
            path = findings.spot("inputs", index, item.name, "name")
            findings.warn(path, found=f"the input `{item.name}` not used", hint="No step takes it.")
    actions = contract.budget.get("actions")
    if actions is not None and plan.complete and actions < len(plan.steps):
        found = f"{actions:g} actions for {len(plan.steps)} steps"
        findings.warn(("budget", "actions"), found=found, hint="The run will end exhausted.")


def _warn_untrusted(
    contract: Contract, leases: Mapping[str, Lease], plan: Plan, findings: Findings
) -> None:
    for step in plan.steps:
        if step.kind == FINAL_EVALUATION and not leases[step.operation].trusted_metrics:
            index = contract.capabilities.index(step.operation)
            plugin = leases[step.operation].operation.plugin_id
            findings.warn(
                findings.spot("capabilities", index, step.operation),
                found=f"{step.operation}, which may not see final labels here",
                hint="It judges visible rows and reports. A person may grant more: "
                f"`harness plugin admit {plugin} --trust-metrics`.",
            )


def _check_kinds(
    contract: Contract, leases: Mapping[str, Lease], plan: Plan, findings: Findings
) -> None:
    leased = {o.type for lease in leases.values() for o in lease.operation.outputs}
    planned = {o.type for step in plan.steps for o in leases[step.operation].operation.outputs}
    if any(step.kind in (FINAL_EVALUATION, VISIBLE_EVALUATION) for step in plan.steps):
        planned.add("predictor.evaluation")
    known = all(name in leases for name in contract.capabilities)
    for index, kind in enumerate(contract.workflow.required_artifacts):
        path: DocumentPath = ("workflow", "required_artifacts", index)
        if kind in HYPOTHESIS_KINDS and not contract.workflow.hypothesis_verification:
            hint = "Set workflow: {hypothesis_verification: true}."
            expected = "hypothesis verification switched on"
            findings.problem(path, found=f"{kind} without it", expected=expected, hint=hint)
        elif kind in KERNEL_KINDS or kind in planned or not known:
            continue
        elif kind not in ARTIFACT_TYPES and kind not in leased:
            hint = suggest(kind, {*ARTIFACT_TYPES, *leased})
            findings.problem(path, found=kind, expected="an artifact type", hint=hint)
        elif plan.complete:
            found, hint = f"{kind}, which no step makes", "Lease and use a capability that does."
            findings.problem(path, found=found, expected="a step that makes it", hint=hint)


def _check_predictor(leases: Mapping[str, Lease], plan: Plan, findings: Findings) -> None:
    path = ("workflow", "final_predictor")
    operations = {step.id: leases[step.operation].operation for step in plan.steps}
    if not any(makes_predictor(operation) for operation in operations.values()):
        expected = "a step that writes model.json, inference.py and model_card.json"
        hint = "Lease a capability that trains a predictor."
        findings.problem(path, found="no step that makes one", expected=expected, hint=hint)
        return
    judged = any(
        wants_predictor(InputSpec(name)) and binding.source == "step"
        for step in plan.steps
        for name, binding in step.bindings.items()
    )
    if not judged:
        hint = "Lease an evaluator, and bind its `predictor`."
        findings.problem(path, found="no step that judges it", expected="one", hint=hint)


def _check_completion(leases: Mapping[str, Lease], contract: Contract, findings: Findings) -> None:
    for index, name in enumerate(contract.capabilities):
        if name in leases and TASK_COMPLETION in leases[name].operation.metrics:
            path = findings.spot("capabilities", index, name)
            found = f"{name}, which claims to report {TASK_COMPLETION}"
            expected = "a capability that leaves it to the runtime"
            findings.problem(path, found=found, expected=expected)


def _check_labels_grant(
    contract: Contract, leases: Mapping[str, Lease], plan: Plan, findings: Findings
) -> None:
    for step in plan.steps:
        lease = leases[step.operation]
        if step.kind == FINAL_DATA and lease.operation.final_data and not lease.trusted_labels:
            found = f"labels computed by {step.operation}, not trusted by this installation"
            plugin = lease.operation.plugin_id
            hint = f"A person may grant it: `harness plugin admit {plugin} --trust-labels`."
            expected = "a plugin that may make final data"
            path = ("holdout", "generated_by")
            findings.problem(path, found=found, expected=expected, hint=hint)


def _check_proposed(contract: Contract, findings: Findings) -> None:
    """Note what only a contract with fixed steps can have."""
    hint = "Leave it out, or leave the steps to `reasoner: recipe`."
    expected = f"a reasoner that follows them; {contract.reasoner.use} proposes its own"
    if contract.steps is not None:
        findings.problem(("steps",), found="steps", expected=expected, hint=hint, at_key=True)
    if contract.holdout.generated_by is not None:
        path = ("holdout", "generated_by")
        findings.problem(path, found="a step", expected=expected, hint=hint)
