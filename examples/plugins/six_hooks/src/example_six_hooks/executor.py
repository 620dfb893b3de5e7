"""An executor: programs run at low priority, and no longer than they are given."""

from attrs import field, frozen
from attrs.validators import gt, in_

from sciharness import Context, Executor, Launch, Program


@frozen
class GentleOptions:
    """Options of `executor: {use: example.six.gentle, ...}` in a contract."""

    niceness: int = field(
        default=10, validator=in_(range(20)), metadata={"help": "19 is the most gentle"}
    )
    seconds: float = field(default=600.0, validator=gt(0.0), metadata={"help": "wall time of each"})


def gentle(request: GentleOptions, program: Program, context: Context) -> Launch:
    """Put `nice` in front of the command."""
    known = [limit for limit in (program.wall_seconds, request.seconds) if limit is not None]
    return Launch(prefix=("nice", "-n", str(request.niceness)), wall_seconds=min(known))


GENTLE = Executor(
    operation="gentle",
    run=gentle,
    request=GentleOptions,
    summary="Runs programs at low priority.",
)
