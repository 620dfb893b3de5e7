"""The child's program: xtrack's own MAD-X parser, definitions in, Line.to_dict JSON out.

It is copied into a folder and started there, confined to it, with the names
of the text, the sequence and the result as arguments.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any


def convert(text: Path, sequence: str, result: Path) -> None:
    """Write the line of a sequence, with the parser's warnings beside it."""
    import numpy
    import xtrack

    def plain(value: Any) -> Any:  # Any: numpy values
        return value.tolist() if isinstance(value, numpy.ndarray | numpy.generic) else str(value)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        environment = xtrack.load(string=text.read_text("utf-8"), format="madx")
        line = environment.lines[sequence]
        values = line.to_dict(include_var_management=False, include_version=True)
    if line.particle_ref is not None:
        values["particle_ref"] = line.particle_ref.to_dict()
    kept = ("__class__", "xtrack_version", "elements", "element_names", "particle_ref")
    document = {
        "line": {name: values[name] for name in kept if name in values},
        "warnings": sorted({str(one.message)[:200] for one in said})[:50],
    }
    result.write_text(json.dumps(document, default=plain), "utf-8")


if __name__ == "__main__":
    convert(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
