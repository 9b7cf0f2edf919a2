"""Threads that take turns as often as they can, so that what they share is changed between any two steps."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Task = TypeVar("Task")


@contextmanager
def _switching_often() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def holds_in_threads(check: Callable[[Task], bool], tasks: Iterable[Task]) -> bool:
    """Whether the check is true of every task. Eight threads share the tasks."""
    with _switching_often(), ThreadPoolExecutor(8) as pool:
        return all(pool.map(check, tasks))
