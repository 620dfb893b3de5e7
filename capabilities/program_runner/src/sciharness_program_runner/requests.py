"""What can be chosen for a program: its command line, its outputs, its limits."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen
from attrs.validators import ge, gt, le

from sciharness_program_runner.arguments import CONTRACT

MEMORY_MIB = 8192


@frozen
class RunRequest:
    """How a program is run."""

    arguments: tuple[str, ...] = field(default=(), metadata={"help": CONTRACT})
    outputs: Mapping[str, str] = field(
        factory=dict,
        metadata={
            "help": "Files that the program writes into its working directory, each with its "
            "artifact type: {table.csv: DATASET}. Others are not kept."
        },
    )
    expected_solver_calls: int = field(
        default=0,
        validator=ge(0),
        metadata={
            "help": "Solver calls that the program makes; they are charged, and the time limit "
            "grows with them: 300 s and 1 s for each, at most 7200 s."
        },
    )
    timeout: float | None = field(
        default=None,
        metadata={"help": "Seconds after which the program is ended; the stricter limit wins."},
    )
    memory_mib: int = field(
        default=MEMORY_MIB,
        validator=[gt(0), le(MEMORY_MIB)],
        metadata={"help": "Address space in MiB; threads of numerical libraries are capped."},
    )
    output_mib: int = field(
        default=1024,
        validator=[gt(0), le(65536)],
        metadata={"help": "Size in MiB that one written file may have."},
    )
