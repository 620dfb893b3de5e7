"""Threads of the numerical libraries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS and OpenMP to one thread, OpenMP in the calling thread.

    Sums then do not depend on the number of threads, and no thread waits
    actively for another on a busy machine.
    """
    from threadpoolctl import threadpool_limits  # searches the loaded libraries

    with threadpool_limits(1):
        yield
