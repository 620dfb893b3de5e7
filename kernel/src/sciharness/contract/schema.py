"""The contract as JSON Schema 2020-12, for editors; made from what the loader reads by."""

from __future__ import annotations

from typing import Any

from sciharness.contract.fields import CONTRACT
from sciharness.contract.records import SCHEMA


def contract_json_schema() -> dict[str, Any]:  # Any: JSON Schema
    """Return the JSON Schema of ``research-contract-v1``.

    It holds every rule about the form of a single field. Rules that tie
    fields together (unique names, steps and their inputs) are checked by
    ``harness check`` alone.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:sciharness:{SCHEMA}",
        "title": SCHEMA,
        **CONTRACT.schema(),
    }
