"""What plugins offer, asked of a confined worker once and kept under the digest."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from sciharness.descriptors import Descriptor
from sciharness.errors import PluginError
from sciharness.plugins import cache
from sciharness.store.home import Home
from sciharness.workers.load_set import LoadSet
from sciharness_catalog.approvals import Approval
from sciharness_catalog.distributions import InstalledPlugin
from sciharness_catalog.leasing import load_set
from sciharness_catalog.verify import VerifiedPackage


class Descriptions:
    """The descriptors of a home; only plugins that may load are ever asked."""

    def __init__(self, home: Home, known: Mapping[str, Approval]) -> None:
        self._home, self._known = home, known
        self._kept = home.plugins / "descriptors"

    def of(
        self, plugin: InstalledPlugin, package: VerifiedPackage, *, again: bool = True
    ) -> Descriptor:
        """Return what an admitted plugin offers.

        Unless ``again``, one that did not load before is not started again as
        long as nothing was installed or removed.

        Raises:
            PluginError: it does not load, or is written for another HOOK_API.
        """
        descriptor = cache.load(self._kept, package)
        if descriptor is not None:
            return descriptor
        fault = "" if again else cache.load_fault(self._kept, package)
        if fault:
            raise PluginError(fault)
        try:
            descriptor = self._asked(plugin, package)
        except PluginError as error:
            cache.save_fault(self._kept, package, str(error))
            raise
        cache.save(self._kept, package, descriptor)
        return descriptor

    def offered(self, plugin_id: str, digest: str, kind: str) -> tuple[str, ...]:
        """Return the names of one kind that exactly these bytes offered when last asked."""
        return cache.offered(self._kept, plugin_id, digest, kind)

    def _asked(self, plugin: InstalledPlugin, package: VerifiedPackage) -> Descriptor:
        from sciharness.workers.pool import Workers  # only a cold cache needs workers

        own, *libraries = load_set(plugin, package, known=self._known)
        scratch = Path(tempfile.mkdtemp(prefix="describe-", dir=self._home.temporary))
        try:
            with Workers(scratch, hidden=(self._home.path,)) as workers:
                descriptor = workers.describe(LoadSet(own, tuple(libraries)))
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        _check_hook_api(descriptor)
        return descriptor


def _check_hook_api(descriptor: Descriptor) -> None:
    from sciharness.hooks import HOOK_API

    if descriptor.hook_api != HOOK_API:
        raise PluginError(
            f"is written for HOOK_API {descriptor.hook_api}, this kernel has {HOOK_API}",
            where=f"{descriptor.plugin_id} {descriptor.version}",
            hint="Install a version of it that fits this kernel.",
        )
