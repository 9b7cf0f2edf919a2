"""Work beside a search: an engine elsewhere can answer the other questions of a page meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from esr.index.contract import Index
from esr.index.factory import is_elasticsearch
from webui.running.gate import BESIDE, is_beside, time_stage

T = TypeVar("T")
_THREADS = ThreadPoolExecutor(24, "beside")


def start(index: Index, work: Callable[[], T]) -> Callable[[], T]:
    """Start work that asks the index, and return what waits for the result.

    A folder computes in this process, so its work begins when the result is wanted. So does work that has
    found no free thread by then. The circuit breaker goes by the search, and not by what is beside it.
    """
    if not is_elasticsearch(index.where):
        return work
    future = _THREADS.submit(_run, work)

    def finish() -> T:
        if future.cancel():
            return _run(work)
        with time_stage(BESIDE):
            return future.result()

    return finish


def _run(work: Callable[[], T]) -> T:
    token = is_beside.set(True)
    try:
        return work()
    finally:
        is_beside.reset(token)
