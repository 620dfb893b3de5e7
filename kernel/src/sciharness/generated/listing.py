"""Installed generated plugins as lists show them, and which of them fit a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import frozen

from sciharness.descriptors import PREDICTOR_KIND, SOLVER_KIND, Operation
from sciharness.errors import DataError, HarnessError, UsageError
from sciharness.generated.adapters import OPERATION as SOLVE
from sciharness.generated.adapters import OUTPUT as SOLVED
from sciharness.generated.adapters import adapter_files, card_of_adapter, is_adapter
from sciharness.generated.installed import installed_versions, load
from sciharness.generated.packages import card_of, predictor_files
from sciharness.plugin import InputSpec, OutputSpec
from sciharness.plugins.records import Leasable, PluginStatus
from sciharness.store.home import Home
from sciharness.tables import check_table
from sciharness.workers.load_set import LoadSet
from sciharness_catalog.errors import DigestDiffersError, NotInstalledError
from sciharness_catalog.pins import Pin
from sciharness_catalog.verify import VerifiedPackage

OPERATION = "predict"


def generated_plugins(home: Home) -> tuple[PluginStatus, ...]:
    """Return every installed generated plugin, the newest version of each ID."""
    installed = installed_versions(home)
    return tuple(_status(home, name, places[-1]) for name, places in installed.items())


def _status(home: Home, plugin_id: str, place: Path) -> PluginStatus:
    try:
        package = load(home, plugin_id, place.name)
    except HarnessError as fault:
        return PluginStatus(
            id=plugin_id,
            version=place.name,
            distribution="",
            origin="generated",
            state="refused",
            digest="",
            trusted_metrics=False,
            reason=str(fault),
        )
    return PluginStatus(
        id=plugin_id,
        version=package.version,
        distribution=package.distribution,
        origin="generated",
        state="admitted",
        digest=package.digest,
        trusted_metrics=False,
        operations=(_operation(plugin_id, package),),
    )


def _operation(plugin_id: str, package: VerifiedPackage) -> Operation:
    if is_adapter(package.files, str(package.entry_point)):
        return _solving(plugin_id, package)
    card = card_of(predictor_files(package.files, str(package.entry_point)), plugin_id)
    return Operation(
        plugin_id=plugin_id,
        operation=OPERATION,
        kind=PREDICTOR_KIND,
        summary=f"Predict {card['target']['name']} ({card['task']}).",
        group="execution and training",
        request_schema={"type": "object", "properties": {}},
        inputs=(InputSpec("data", ("DATASET", "table")),),
        outputs=(OutputSpec("predictions.csv", "DATASET"),),
    )


def _solving(plugin_id: str, package: VerifiedPackage) -> Operation:
    files = adapter_files(package.files, str(package.entry_point))
    return Operation(
        plugin_id=plugin_id,
        operation=SOLVE,
        kind=SOLVER_KIND,
        summary=f"Solve by {card_of_adapter(files)['executable']}, behind an adapter.",
        group="domain experiments",
        request_schema={"type": "object", "properties": {}},
        inputs=(InputSpec("data"),),
        outputs=(OutputSpec(SOLVED, "OTHER"),),
    )


def lease_generated(home: Home, plugin_id: str, operation: str, pin: Pin | None) -> Leasable:
    """Return the operation of an installed generated plugin, of exactly ``pin`` if one is given.

    Raises:
        NotInstalledError: it has no such operation.
        UsageError, IntegrityError: the version is not installed, or no longer what was admitted.
    """
    try:
        package = load(home, plugin_id, pin.version if pin is not None else None)
    except UsageError as fault:
        raise NotInstalledError(fault.message, where=fault.where, hint=fault.hint) from fault
    if pin is not None and pin.digest != package.digest:
        raise DigestDiffersError(
            f"digest differs: pinned {pin.digest[:12]}…, installed {package.digest[:12]}…",
            where=f"{plugin_id} {package.version}",
            hint="Install the package that the run was made with.",
        )
    offered = _operation(plugin_id, package)
    if operation != offered.operation:
        raise NotInstalledError(
            f"offers no operation {operation!r}",
            where=plugin_id,
            hint=f"It offers {plugin_id}.{offered.operation}.",
        )
    return Leasable(
        operation=offered,
        pin=Pin(plugin_id, package.version, offered.operation, package.digest),
        origin="generated",
        trusted_metrics=frozenset(),
        trusted_labels=False,
        load=lambda: LoadSet(package),
    )


@frozen
class Match:
    """An installed predictor whose columns a table has, as numbers."""

    plugin_id: str
    version: str
    target: str
    columns: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the match as ``plugin match --json`` prints it."""
        return {
            "plugin_id": self.plugin_id,
            "version": self.version,
            "target": self.target,
            "columns": list(self.columns),
        }


def matches(home: Home, table: Path) -> list[Match]:
    """Return the installed predictors that a table fits by column names and types.

    A predictor fits if the table has every column of its card and these hold
    numbers. All that fit are returned: which one is meant is for a person to say.

    Raises:
        DataError: the file is missing or is no table.
    """
    if not table.is_file():
        raise DataError("there is no such file", where=str(table))
    found = []
    for plugin_id, places in installed_versions(home).items():
        try:
            package = load(home, plugin_id, places[-1].name)
        except HarnessError:
            continue
        if is_adapter(package.files, str(package.entry_point)):
            continue
        card = card_of(predictor_files(package.files, str(package.entry_point)), plugin_id)
        columns = tuple(column["name"] for column in card["columns"])
        if _fits(table, columns):
            found.append(Match(plugin_id, package.version, card["target"]["name"], columns))
    return found


def _fits(table: Path, columns: tuple[str, ...]) -> bool:
    from sciharness.contract.records import ContractInput

    spec = ContractInput("data", table.name, role="table", features=columns)
    return not check_table(table, spec).problems
