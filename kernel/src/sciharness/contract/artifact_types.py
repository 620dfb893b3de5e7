"""Artifact types: canonical spelling, and the type of a file by its name."""

from __future__ import annotations

from pathlib import PurePath

DATASET = "DATASET"
OTHER = "OTHER"
DIRECTORY_BUNDLE = "directory_bundle"
SOLVER_BUNDLE = "solver_bundle"
# Stored as archives, given to operations as folders.
FOLDERS = (DIRECTORY_BUNDLE, SOLVER_BUNDLE)
PREDICTOR_FILES = {
    "model.json": "model",
    "inference.py": "inference.source.python",
    "model_card.json": "model_card",
}
PREDICTOR = tuple(PREDICTOR_FILES.values())
REPORT = "scientific_report"

# Kinds that only the hypothesis workflow makes.
HYPOTHESIS_KINDS = ("hypothesis", "verification_plan", "verification_result")

# Kinds the kernel makes itself, whatever is leased.
KERNEL_KINDS = (REPORT, "environment")

ARTIFACT_TYPES = (
    DATASET,
    "source.python",
    OTHER,
    DIRECTORY_BUNDLE,
    SOLVER_BUNDLE,
    *PREDICTOR,
    "MINIMAL_EXAMPLE",
    "USAGE_GUIDE",
    "predictor.evaluation",
    "analysis_result",
    "benchmark_result",
    "adapter_validation",
    "evidence",
    "scientific_claim",
    *HYPOTHESIS_KINDS,
    *KERNEL_KINDS,
)

_BY_EXTENSION = {
    ".csv": DATASET,
    ".tsv": DATASET,
    ".json": DATASET,
    ".parquet": DATASET,
    ".py": "source.python",
}

TABLE_EXTENSIONS = (".csv", ".tsv", ".parquet")


def canonical_type(name: str) -> str:
    """Return an artifact type in its canonical spelling; a type of a plugin stays as it is.

    >>> canonical_type("dataset"), canonical_type("my_kind")
    ('DATASET', 'my_kind')
    """
    return next((known for known in ARTIFACT_TYPES if known.lower() == name.lower()), name)


def type_of_file(name: str) -> str:
    """Return the artifact type of an input file by its extension.

    >>> type_of_file("runs/a.CSV"), type_of_file("notes.txt")
    ('DATASET', 'OTHER')
    """
    return _BY_EXTENSION.get(PurePath(name).suffix.lower(), OTHER)
