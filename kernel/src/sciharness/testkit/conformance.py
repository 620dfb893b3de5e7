"""The conformance kit: everything a plugin can be checked for without knowing its science."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from sciharness.errors import HarnessError
from sciharness.testkit import operations, roles, whole
from sciharness.testkit.bench import Bench
from sciharness.testkit.examples import Examples, read_examples
from sciharness.testkit.verdicts import Verdict, failed, passed
from sciharness_catalog.distributions import InstalledPlugin

EXAMPLES = "conformance.yaml"

Check = Callable[[Bench, str, Examples], Iterator[Verdict]]


def check(path: Path, *, examples: Path | None = None) -> Iterator[Verdict]:
    """Check the plugin in a project folder or a wheel, and yield verdict after verdict.

    Inputs and parameters that the kit cannot think of itself stand in
    ``conformance.yaml`` of the project, or in the file ``examples``.

    Raises:
        UsageError: there is no plugin at ``path``.
        ContractError, DataError: the examples are no examples.
    """
    own = path / EXAMPLES
    given = read_examples(examples or own) if examples or own.is_file() else Examples()
    try:
        bench = Bench.of(path)
    except HarnessError as error:
        if error.exit_code == 2:
            raise
        yield failed("package", str(error))
        return
    with bench:
        yield from _checked(bench, given)


def check_installed(plugin: InstalledPlugin, *, examples: Path | None = None) -> Iterator[Verdict]:
    """Check an installed plugin; the caller has made sure that it may be imported.

    Raises:
        IntegrityError: its files are not what was installed.
        ContractError, DataError: the examples are no examples.
    """
    given = read_examples(examples) if examples else Examples()
    with Bench.on(plugin) as bench:
        yield from _checked(bench, given)


def _checked(bench: Bench, examples: Examples) -> Iterator[Verdict]:
    package = bench.package.package
    yield passed("package", f"{package.distribution} {package.version}, {package.digest[:12]}")
    try:
        descriptor = bench.descriptor
    except HarnessError as error:
        yield failed("import", str(error))
        return
    yield from whole.check(bench)
    for operation in descriptor.operations:
        yield whole.check_description(operation)
        if operation.leased:
            yield from operations.check(bench, operation, examples)
        else:
            yield from roles.check(bench, operation, examples)
