"""Pools of worker processes, which end with the block that uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from esr.errors import EsrError

SPAWN = get_context("spawn")
"""Worker processes are spawned, since a forked copy of a process with threads may hang."""
WORKER_DIED = "a worker process died, perhaps for lack of memory: run again with fewer workers"


@contextmanager
def translate_death() -> Iterator[None]:
    """Raise EsrError if a process dies whose result is awaited in the block."""
    try:
        yield
    except BrokenProcessPool:
        raise EsrError(WORKER_DIED) from None


@contextmanager
def open_pools(
    number: int, workers: int, start: Callable[..., object], *arguments: object
) -> Iterator[list[ProcessPoolExecutor]]:
    """Open pools of `workers` processes, each of which begins with a call of `start`.

    They end with the block: at once after an error or an interrupt. Raises EsrError if a process dies.
    """
    others = {*active_children()}
    pools = [ProcessPoolExecutor(workers, SPAWN, start, arguments) for _ in range(number)]
    try:
        with translate_death():
            yield pools
    except BaseException:
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for worker in {*active_children()} - others:  # otherwise each finishes its work, for minutes
            worker.terminate()
        raise
    finally:
        for pool in pools:
            pool.shutdown()
