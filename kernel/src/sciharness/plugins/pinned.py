"""Pinned plugins that cannot be had: the error says exactly what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sciharness.errors import HarnessError
from sciharness.plugins.facade import Plugins
from sciharness_catalog.errors import (
    DigestDiffersError,
    NotAdmittedError,
    NotInstalledError,
    WrongVersionError,
)
from sciharness_catalog.pins import Pin

_ABSENT = (DigestDiffersError, NotInstalledError, WrongVersionError)


@contextmanager
def naming_pin(plugins: Plugins, pin: Pin) -> Iterator[Pin]:
    """Give the pin, and name it in the hint of the error if it cannot be had.

    Raises:
        HarnessError: what the block raised, of the same class.
    """
    try:
        yield pin
    except (*_ABSENT, NotAdmittedError) as error:
        raise _named(error, plugins, pin) from error


def _named(error: HarnessError, plugins: Plugins, pin: Pin) -> HarnessError:
    distribution = plugins.distribution_of(pin)
    wanted = f"pip install {distribution}=={pin.version}" if distribution else "install that one"
    hint = f"The run is pinned to `{pin}`: {wanted}, then `harness resume` goes on."
    if isinstance(error, NotAdmittedError):
        hint = f"{error.hint} The run is pinned to `{pin}`."
    return type(error)(error.message, where=error.where, hint=hint)
