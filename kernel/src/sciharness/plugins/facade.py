"""The one place that answers which capabilities there are and which may be leased."""

from __future__ import annotations

from sciharness.descriptors import LEASED_KINDS, Descriptor, Operation
from sciharness.errors import HarnessError, UsageError
from sciharness.plugins.describing import Descriptions
from sciharness.plugins.offered import operation_of
from sciharness.plugins.records import Leasable, PluginStatus
from sciharness.store.home import Home, Transaction
from sciharness.workers.load_set import LoadSet
from sciharness_catalog import admission as catalog
from sciharness_catalog.admission import Admission
from sciharness_catalog.approvals import approvals, distribution_of
from sciharness_catalog.distributions import InstalledPlugin, find_plugins
from sciharness_catalog.errors import NotInstalledError
from sciharness_catalog.leasing import Lease, find_plugin, lease, load_set
from sciharness_catalog.pins import Pin
from sciharness_catalog.verify import VerifiedPackage, read_verified

_TABLES = "sciharness-catalog-1"


class Plugins:
    """The plugins installed here, with what this home decided about them.

    No plugin is imported in this process. What an admitted one offers is asked
    of a confined worker once and kept under its digest; one that is not
    admitted is never imported, not even for that.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self._known = approvals()
        self._descriptions = Descriptions(home, self._known)
        self._leases: dict[str, tuple[Lease, Descriptor]] = {}
        self._load_sets: dict[tuple[str, str], LoadSet] = {}
        home.ensure_tables(_TABLES, catalog.create_tables)

    def listing(self) -> tuple[PluginStatus, ...]:
        """Return every plugin ID that an installed distribution claims, by ID.

        One that did not load before is not started again as long as nothing
        was installed or removed.

        Raises:
            IntegrityError: the record of decisions is broken.
        """
        return tuple(self._status(plugin, again=False) for plugin in find_plugins())

    def show(self, plugin_id: str) -> PluginStatus:
        """Return one plugin.

        Raises:
            NotInstalledError: no distribution claims the ID.
        """
        if self._generated(plugin_id):
            from sciharness.generated.listing import generated_plugins  # it needs this package

            return next(one for one in generated_plugins(self.home) if one.id == plugin_id)
        return self._status(find_plugin(plugin_id, known=self._known))

    def admitted(self, plugin_id: str) -> InstalledPlugin:
        """Return an installed plugin that may load.

        Raises:
            As :meth:`lease`, but for the last two.
        """
        return lease(self.home.connection(), plugin_id, known=self._known).plugin

    def lease(self, name: str, pin: Pin | None = None) -> Leasable:
        """Return the capability ``plugin_id.operation``, of exactly ``pin`` if one is given.

        Raises:
            NotInstalledError: no plugin of that ID, or it has no such operation.
            NotAdmittedError, WrongVersionError, DigestDiffersError,
            EditableError, TwoClaimantsError, IntegrityError: it may not load.
            PluginError: it may load, but it does not.
        """
        plugin_id, _, operation = name.rpartition(".")
        if plugin_id and self._generated(plugin_id):
            from sciharness.generated.listing import lease_generated  # it needs this package

            return lease_generated(self.home, plugin_id, operation, pin)
        return self._leasable(name, LEASED_KINDS, pin)

    def role(self, kind: str, name: str, pin: Pin | None = None) -> Leasable:
        """Return the ``reasoner``, ``executor``, ``reviewer`` or ``publisher`` of that name.

        Raises:
            As :meth:`lease`.
        """
        return self._leasable(name, (kind,), pin)

    def distribution_of(self, pin: Pin) -> str:
        """Return the distribution that a pinned plugin came in, empty if nobody here knows."""
        for one in reversed(catalog.decisions(self.home.connection())):
            if (one.plugin_id, one.digest) == (pin.plugin_id, pin.digest):
                return one.distribution
        return distribution_of(pin.plugin_id, self._known) or ""

    def expected_roles(self, kind: str) -> tuple[str, ...]:
        """Return the roles of a kind that persons have admitted, installed now or not.

        What was admitted is known by digest, so that one whose distribution
        was removed or changed since is still named.
        """
        newest = {one.plugin_id: one for one in catalog.decisions(self.home.connection())}
        return tuple(
            name
            for plugin_id, one in sorted(newest.items())
            if one.action == "admit"
            for name in self._descriptions.offered(plugin_id, one.digest, kind)
        )

    def _generated(self, plugin_id: str) -> bool:
        """Whether a generated plugin of that ID lies below the home."""
        place = self.home.plugins / "generated" / plugin_id
        return "/" not in plugin_id and place.is_dir() and any(place.iterdir())

    def _leasable(self, name: str, kinds: tuple[str, ...], pin: Pin | None) -> Leasable:
        plugin_id, _, wanted = name.rpartition(".")
        if not plugin_id:
            hint = f"A {kinds[0]} is named PLUGIN_ID.OPERATION; see `harness plugin list`."
            raise NotInstalledError(f"is no {kinds[0]} name", where=name, hint=hint)
        held, descriptor = self._leased(plugin_id, pin)
        operation = operation_of(descriptor, wanted, kinds)
        granted = held.admission.trusted_metrics and operation.kind == "evaluator"
        return Leasable(
            operation=operation,
            pin=Pin(plugin_id, held.package.version, wanted, held.package.digest),
            origin=held.admission.origin,
            trusted_metrics=frozenset(operation.trusted_metrics if granted else ()),
            trusted_labels=held.admission.trusted_labels and operation.final_data,
            # Verified once per lease: every worker of a run starts from these very bytes.
            load=lambda: self._load_set(held),
        )

    def admit(
        self,
        plugin_id: str,
        *,
        trust_metrics: bool = False,
        trust_labels: bool = False,
    ) -> PluginStatus:
        """Record that exactly the installed bytes may load, and return the plugin.

        Raises:
            HarnessError: it is not installed, or its files cannot be verified.
        """
        if self._generated(plugin_id):
            raise UsageError(
                "is a generated plugin, admitted where its wheel is installed",
                where=plugin_id,
                hint="Run `harness plugin install WHEEL`; after a revocation --lift-revocation.",
            )
        plugin = find_plugin(plugin_id, known=self._known)
        package = read_verified(plugin)
        with self.home.writing() as tx:
            catalog.admit(
                tx.connection,
                package,
                trust_metrics=trust_metrics,
                trust_labels=trust_labels,
                at=self.home.now(),
                known=self._known,
            )
            _bind(tx)
        self._leases.pop(plugin_id, None)
        return self._status(plugin)

    def revoke(self, plugin_id: str) -> None:
        """Record that the plugin ID may no longer load, ours included.

        Raises:
            NotAdmittedError: there is nothing to revoke.
        """
        with self.home.writing() as tx:
            catalog.revoke(tx.connection, plugin_id, at=self.home.now(), known=self._known)
            _bind(tx)
        self._leases.pop(plugin_id, None)

    def _status(self, plugin: InstalledPlugin, *, again: bool = True) -> PluginStatus:
        package: VerifiedPackage | None = None
        try:
            package = read_verified(plugin)
        except HarnessError:
            package = None  # the admission below says why
        said = catalog.admission(self.home.connection(), plugin, package, known=self._known)
        state, reason = str(said.state), said.reason
        operations: tuple[Operation, ...] = ()
        if package is not None and said.state == "admitted":
            try:
                operations = self._descriptions.of(plugin, package, again=again).operations
            except HarnessError as error:
                state, reason = "broken", str(error)
        return _status_of(plugin, said, state, reason, operations)

    def _leased(self, plugin_id: str, pin: Pin | None) -> tuple[Lease, Descriptor]:
        found = self._leases.get(plugin_id)
        if found is None or (pin is not None and pin.digest != found[0].package.digest):
            # A database that was set back may have forgotten a revocation.
            self.home.check_head()
            held = lease(self.home.connection(), plugin_id, pin=pin, known=self._known)
            found = (held, self._descriptions.of(held.plugin, held.package))
            self._leases[plugin_id] = found
        return found

    def _load_set(self, held: Lease) -> LoadSet:
        key = (held.plugin.plugin_id, held.package.digest)
        if key not in self._load_sets:
            own, *libraries = load_set(held.plugin, held.package, known=self._known)
            self._load_sets[key] = LoadSet(own, tuple(libraries))
        return self._load_sets[key]


def _status_of(
    plugin: InstalledPlugin,
    said: Admission,
    state: str,
    reason: str | None,
    operations: tuple[Operation, ...],
) -> PluginStatus:
    return PluginStatus(
        id=plugin.plugin_id,
        version=plugin.version,
        distribution=plugin.distribution,
        origin=said.origin,
        state=state,
        digest=said.digest,
        trusted_metrics=said.trusted_metrics,
        reason=reason,
        operations=operations,
    )


def _bind(tx: Transaction) -> None:
    """Bind the newest decision into the home's head, so that a set-back database is noticed."""
    tx.record_head("catalog", catalog.head(tx.connection).hash)
