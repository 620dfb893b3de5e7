"""The import package of a generated plugin: what a predictor and a solver's have in common."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from packaging.utils import canonicalize_name

from sciharness_publisher.wheels import WheelPlan

Json = dict[str, Any]  # Any: JSON values

_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\Z")


def is_plugin_id(text: str) -> bool:
    """Whether ``text`` is lower-case words of letters, digits and underscores joined by dots.

    >>> is_plugin_id("example.pendulum"), is_plugin_id("Example"), is_plugin_id("a..b")
    (True, False, False)
    """
    return len(text) <= 100 and _ID.match(text) is not None


def import_name(plugin_id: str) -> str:
    """Return the name of the import package of a plugin ID.

    >>> import_name("example.pendulum")
    'example_pendulum'
    """
    return plugin_id.replace(".", "_")


def package_files(
    plugin_id: str, version: str, files: Mapping[str, bytes], module: str, said: Json
) -> dict[str, bytes]:
    """Return the files of the import package but for its statement, by path.

    ``module`` is the text of its ``__init__.py``, ``said`` is what plugin.json
    says beside identity and origin.
    """
    identity = {
        "schema": "generated-plugin-v1",
        "id": plugin_id,
        "version": version,
        "origin": "generated",
    }
    made = {
        "__init__.py": module.encode(),
        "__main__.py": _MAIN.encode(),
        "plugin.json": (json.dumps({**identity, **said}, indent=2, sort_keys=True) + "\n").encode(),
    }
    package = import_name(plugin_id)
    return {f"{package}/{name}": data for name, data in {**files, **made}.items()}


def package_wheel(
    plugin_id: str,
    version: str,
    files: Mapping[str, bytes],
    inside: bytes,
    *,
    summary: str,
    requires: tuple[str, ...] = (),
) -> WheelPlan:
    """Return the plan of the wheel of an import package; ``inside`` is the statement it carries."""
    package, command = import_name(plugin_id), canonicalize_name(plugin_id)
    return WheelPlan(
        name=command,
        version=version,
        summary=summary,
        files={**files, f"{package}/attestation.json": inside},
        requires=requires,
        entry_points={
            "console_scripts": {command: f"{package}:main"},
            "sciharness.plugins": {plugin_id: package},
        },
    )


_MAIN = '''\
"""Run the predictor as `python -m`."""

import sys

from . import main

sys.exit(main())
'''
