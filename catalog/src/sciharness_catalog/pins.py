"""Pins: which exact implementation of an operation is meant."""

from __future__ import annotations

import re

from attrs import frozen

from sciharness_catalog.errors import IntegrityError

PLUGIN_ID = r"[a-z][a-z0-9]*(?:[_.][a-z0-9]+)*"
_OPERATION = r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*"
_PIN = re.compile(rf"({PLUGIN_ID}) ([0-9][0-9A-Za-z.!+]*) ({_OPERATION}) ([0-9a-f]{{64}})")


@frozen
class Pin:
    """A plugin ID, its version, one operation and the implementation digest impl-v1.

    >>> pin = Pin("evaluation", "0.1.0", "regression", "0" * 64)
    >>> Pin.parse(str(pin)) == pin
    True
    """

    plugin_id: str
    version: str
    operation: str
    digest: str

    @classmethod
    def parse(cls, text: str) -> Pin:
        """Return the pin that ``str(pin)`` wrote.

        Raises:
            IntegrityError: the text is not a pin.
        """
        found = _PIN.fullmatch(text)
        if found is None:
            raise IntegrityError(
                f"expected a pin `ID VERSION OPERATION DIGEST`, found {text!r}", where="pin"
            )
        return cls(*found.groups())

    @property
    def capability(self) -> str:
        """The capability name: ``plugin_id.operation``."""
        return f"{self.plugin_id}.{self.operation}"

    def __str__(self) -> str:
        return f"{self.plugin_id} {self.version} {self.operation} {self.digest}"
