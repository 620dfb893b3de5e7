"""Commands about plugins: list, show, admit, revoke, verify."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from sciharness.cli import authors, generated
from sciharness.cli.common import as_json, opened
from sciharness.cli.output import print_json, say

if TYPE_CHECKING:
    from sciharness.descriptors import Operation
    from sciharness.plugins import PluginStatus
    from sciharness.store.home import Home

PLUGIN = click.argument("plugin_id", metavar="ID")


@click.group(epilog="Example: harness plugin list --json")
def plugin() -> None:
    """Show, admit and verify plugins; this process imports no code of theirs."""


@plugin.command("list", epilog="Example: harness plugin list")
@as_json
@click.pass_context
def list_plugins(ctx: click.Context, json_output: bool) -> None:
    """List the installed plugins and whether they may load."""
    from sciharness.plugins import Plugins, builtin_plugins

    with opened(ctx) as home:
        entries = (*builtin_plugins(), *Plugins(home).listing(), *_generated(home))
    if json_output:
        print_json({"plugins": [entry.to_dict() for entry in entries]})
        return
    for entry in entries:
        trust = ", trusted metrics" if entry.trusted_metrics else ""
        click.echo(f"{entry.id} {entry.version}  {entry.state} ({entry.origin}{trust})")
        for name in entry.capabilities:
            click.echo(f"    {name}")
        for role in entry.roles:
            click.echo(f"    {role.name} ({role.kind})")
        if entry.reason:
            click.echo(f"    {entry.reason}")


def _generated(home: Home) -> tuple[PluginStatus, ...]:
    if not (home.plugins / "generated").is_dir():
        return ()
    from sciharness.generated.listing import generated_plugins  # slower to load than it is needed

    return generated_plugins(home)


@plugin.command(epilog="Example: harness plugin show symbolic_regression --json")
@PLUGIN
@as_json
@click.pass_context
def show(ctx: click.Context, plugin_id: str, json_output: bool) -> None:
    """Show a plugin with inputs, outputs, metrics and parameters."""
    from sciharness.plugins import Plugins

    with opened(ctx) as home:
        mine = [entry for entry in _generated(home) if entry.id == plugin_id]
        entry = mine[0] if mine else Plugins(home).show(plugin_id)
    if json_output:
        leased = [_card(entry, one) for one in entry.operations if one.leased]
        roles = [_role_card(one) for one in entry.roles]
        print_json({**entry.to_dict(), "operations": leased, "roles": roles})
        return
    click.echo(f"{entry.id} {entry.version} ({entry.distribution})")
    click.echo(f"{entry.state}, {entry.origin}, digest {entry.digest}")
    if entry.reason:
        click.echo(entry.reason)
    for operation in entry.operations:
        if operation.leased:
            _print_operation(_card(entry, operation))
    for role in entry.roles:
        _print_role(_role_card(role))


def _card(entry: PluginStatus, operation: Operation) -> dict[str, Any]:  # Any: JSON values
    from sciharness.contract._matching import bindable_inputs

    granted = entry.trusted_metrics and operation.kind == "evaluator"
    # Evaluators are given predictions and labels; what a contract binds is what is shown.
    inputs = bindable_inputs(operation) if operation.kind == "evaluator" else operation.inputs
    return {
        "name": operation.name,
        "summary": operation.summary,
        "group": operation.group,
        "class": "domain" if operation.domain else "core",
        "domain": operation.domain or None,
        "kind": operation.kind,
        "trusted": granted,
        "trusted_metrics": list(operation.trusted_metrics) if granted else [],
        "consumes": sorted({kind for item in inputs for kind in item.types}),
        "produces": sorted({item.type for item in operation.outputs}),
        "inputs": [
            {"name": item.name, "types": list(item.types), "optional": item.optional}
            for item in inputs
        ],
        "outputs": [{"name": item.name, "type": item.type} for item in operation.outputs],
        "metrics": list(operation.metrics),
        "network": operation.network,
        "programs": operation.programs,
        "request": dict(operation.request_schema),
    }


def _print_operation(card: dict[str, Any]) -> None:  # Any: JSON values
    trust = ", trusted metrics" if card["trusted"] else ""
    click.echo(f"\n{card['name']}: {card['summary']}")
    click.echo(f"  group: {card['group']} ({card['class']}{trust})")
    takes = [
        f"{item['name']} (optional)" * item["optional"] or item["name"] for item in card["inputs"]
    ]
    click.echo(f"  takes: {', '.join(takes) or 'nothing'}")
    click.echo(f"  writes: {', '.join(item['name'] for item in card['outputs']) or 'nothing'}")
    click.echo(f"  reports: {', '.join(card['metrics']) or 'no metrics'}")
    _print_fields(card["request"])


def _role_card(role: Operation) -> dict[str, Any]:  # Any: JSON values
    return {
        "name": role.name,
        "kind": role.kind,
        "summary": role.summary,
        "network": role.network,
        "delivers": list(role.delivers),
        "request": dict(role.request_schema),
    }


def _print_role(card: dict[str, Any]) -> None:  # Any: JSON values
    click.echo(f"\n{card['name']}: {card['summary']}")
    delivers = f", delivers {', '.join(card['delivers'])}" if card["delivers"] else ""
    click.echo(f"  {card['kind']}{', asks for the network' * card['network']}{delivers}")
    _print_fields(card["request"])


def _print_fields(request: Mapping[str, Any]) -> None:  # Any: JSON Schema
    for name, field in request.get("properties", {}).items():
        default = f" (default {field['default']!r})" if "default" in field else " (required)"
        click.echo(f"  {name}{default}: {field.get('description', '')}")


@plugin.command(epilog="Example: harness plugin admit my_plugin")
@PLUGIN
@click.option("--trust-metrics", is_flag=True, help="Let its evaluators report trusted metrics.")
@click.option("--trust-labels", is_flag=True, help="Let it make final data sets.")
@click.option("-n", "--dry-run", is_flag=True, help="Show the digest; admit nothing.")
@as_json
@click.pass_context
def admit(
    ctx: click.Context,
    plugin_id: str,
    trust_metrics: bool,
    trust_labels: bool,
    dry_run: bool,
    json_output: bool,
) -> None:
    """Let exactly the installed bytes of a plugin load in this home."""
    from sciharness.plugins import Plugins

    with opened(ctx) as home:
        plugins = Plugins(home)
        entry = (
            plugins.show(plugin_id)
            if dry_run
            else plugins.admit(plugin_id, trust_metrics=trust_metrics, trust_labels=trust_labels)
        )
    if json_output:
        print_json({"admitted": not dry_run, **entry.to_dict()})
    else:
        click.echo(f"{entry.id} {entry.version} {entry.digest}")
    if dry_run:
        say("nothing was admitted")
        return
    offered = ", ".join(operation.name for operation in entry.operations)
    say(f"{entry.state}: {offered or entry.reason}")
    if any(operation.network for operation in entry.operations):
        say("it asks for the network: its workers keep their sockets and never get labels")


@plugin.command(epilog="Example: harness plugin revoke my_plugin")
@PLUGIN
@as_json
@click.pass_context
def revoke(ctx: click.Context, plugin_id: str, json_output: bool) -> None:
    """Take the admission of a plugin back.

    Runs that pin it cannot go on.
    """
    from sciharness.plugins import Plugins

    with opened(ctx) as home:
        Plugins(home).revoke(plugin_id)
    if json_output:
        print_json({"revoked": plugin_id})
    say(f"revoked: {plugin_id}")


@plugin.command(epilog="Example: harness plugin verify")
@click.argument("plugin_id", metavar="[ID]", required=False)
@as_json
@click.pass_context
def verify(ctx: click.Context, plugin_id: str | None, json_output: bool) -> int:
    """Compare installed plugins with what was admitted.

    Every file is hashed again; exit code 7 if one differs.
    """
    from sciharness.plugins import Plugins

    with opened(ctx) as home:
        plugins = Plugins(home)
        entries = [plugins.show(plugin_id)] if plugin_id else list(plugins.listing())
    bad = [entry for entry in entries if entry.state in {"refused", "broken"}]
    if json_output:
        print_json({"plugins": [entry.to_dict() for entry in entries], "ok": not bad})
    else:
        for entry in entries:
            click.echo(f"{entry.id} {entry.version} {entry.state} {entry.digest}")
            if entry.reason:
                click.echo(f"    {entry.reason}")
    return 7 if bad else 0


plugin.add_command(generated.install)
plugin.add_command(generated.match)
plugin.add_command(generated.remove)
plugin.add_command(authors.new_plugin)
plugin.add_command(authors.check_plugin)
