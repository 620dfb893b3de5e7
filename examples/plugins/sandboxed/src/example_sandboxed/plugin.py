"""What the entry point names: the executor `example.sandboxed.full`."""

from attrs import field, frozen

from sciharness import Context, Executor, Launch, Program, hookimpl

HOOK_API = 1


@frozen
class SandboxedOptions:
    """Options of `executor: {use: example.sandboxed.full, ...}` in a contract."""

    require_namespaces: bool = field(
        default=False, metadata={"help": "refuse, too, where the system gives no namespaces"}
    )


def full(request: SandboxedOptions, program: Program, context: Context) -> Launch:
    """Refuse without file and network confinement; add namespaces where there are any."""
    from example_sandboxed.confining import check_confinement, namespaces

    check_confinement()
    prefix = namespaces(context.workspace)
    if request.require_namespaces and not prefix:
        from sciharness.programs import ActionFailed

        raise ActionFailed("refused: this machine gives no process and mount namespaces")
    return Launch(prefix=prefix)


@hookimpl
def harness_executors() -> list[Executor]:
    """Return what says how programs are started."""
    return [
        Executor(
            operation="full",
            run=full,
            request=SandboxedOptions,
            summary="Starts a program only where files and network are confined in full.",
        )
    ]
