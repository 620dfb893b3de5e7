"""The reference particle and the settings of a line, from checked numbers only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sciharness.errors import DataError
from sciharness_xsuite.lattice.record import Reference
from sciharness_xsuite.lattice.source import NotFinite

_MOST_ENERGY = 1e18  # eV; far above any machine
_HINT = "Set line.particle_ref before line.to_json, for example xt.Particles('proton', p0c=26e9)."
_SWITCHES = ("XTRACK_MULTIPOLE_NO_SYNRAD", "XFIELDS_BB3D_NO_BEAMSTR", "XFIELDS_BB3D_NO_BHABHA")
_LIMIT = "XTRACK_GLOBAL_XY_LIMIT"

Settings = dict[str, Any]  # Any: true or a number


def reference_of(particle: Any, name: str) -> Reference:  # Any: JSON values
    """Return mass, charge and momentum of the reference particle.

    Raises:
        DataError: it is missing, or a number is missing or out of range.
    """
    if not isinstance(particle, dict):
        found = "no reference particle" if particle is None else f"particle_ref {particle!r:.60}"
        raise DataError(f"holds {found}", where=f"{name}: particle_ref", hint=_HINT)
    mass = _positive(particle, "mass0", name)
    charge = _number(particle, "q0", name)
    if not 0 < abs(charge) <= 200:
        raise DataError(f"q0 has to be a charge other than 0, got {charge!r}", where=name)
    return Reference(mass, charge, _momentum(particle, mass, name))


def settings_of(config: Any, name: str) -> tuple[Settings, tuple[str, ...]]:  # Any: JSON values
    """Return the settings that are kept and notes on those that are not.

    ``config`` is what the file says; without it xtrack's own settings hold.
    Names and values become lines of a program where kernels are compiled, so
    there are two sets, for which kernels are there: xtrack's own with the
    limit of 1 m on |x| and |y|, and none at all.

    Raises:
        DataError: a setting has another value.
    """
    settings: Settings = {**dict.fromkeys(_SWITCHES, True), _LIMIT: 1.0}
    if config is None:
        return settings, ()
    if not isinstance(config, dict):
        raise DataError("config has to be an object", where=name)
    notes = [
        f"dropped config {key[:60]!r}: not among the settings that are kept"
        for key in config
        if key not in settings and config[key] not in (False, None)
    ]
    for switch in _SWITCHES:
        if config.get(switch) not in (True, False, None):
            raise DataError(f"{switch} has to be true or false", where=f"{name}: config")
    if config.get(_LIMIT) in (None, False):
        return {}, (*notes, "the file switches the limit on |x| and |y| off")
    limit = _positive(config, _LIMIT, f"{name}: config")
    if limit != settings[_LIMIT]:
        raise DataError(
            f"{_LIMIT} is {limit:g}: there are kernels for 1 (metre) and for none",
            where=f"{name}: config",
            hint="Set it to 1.0 and put LimitRect elements where the beam is limited.",
        )
    return settings, tuple(notes)


def _momentum(particle: Mapping[str, Any], mass: float, name: str) -> float:
    if "p0c" in particle:
        return _positive(particle, "p0c", name)
    if "gamma0" in particle:
        gamma = _positive(particle, "gamma0", name)
        if gamma > 1:
            return mass * math.sqrt(gamma * gamma - 1.0)
    if "beta0" in particle:
        beta = _positive(particle, "beta0", name)
        if beta < 1:
            return mass * beta / math.sqrt(1.0 - beta * beta)
    if "energy0" in particle:
        energy = _positive(particle, "energy0", name)
        if energy > mass:
            return math.sqrt(energy * energy - mass * mass)
    raise DataError(
        "particle_ref has no momentum: expected p0c, or gamma0 > 1, or beta0 < 1",
        where=name,
        hint=_HINT,
    )


def _positive(values: Mapping[str, Any], key: str, name: str) -> float:
    number = _number(values, key, name)
    if not 0 < number <= _MOST_ENERGY:
        raise DataError(f"{key} has to be above 0, got {number!r}", where=name)
    return number


def _number(values: Mapping[str, Any], key: str, name: str) -> float:
    value = values.get(key)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"{key} has to be a number, got {value!r:.60}", where=name, hint=_HINT)
    if isinstance(value, NotFinite) or not math.isfinite(value):
        raise DataError(f"{key} has to be finite, got {float(value)!r}", where=name)
    return float(value)
