"""Processes that work for another one: how they meet interrupts from the keyboard, and how they end.

Sets environment variables for a block, also for the processes that start in it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_PARENT_CHECK_SECONDS = 2.0


@contextmanager
def defer_interrupt() -> Iterator[None]:
    """Delay an interrupt to the end of the block: amid a call of a pool it could leave a lock held.

    A process that starts in the block ignores interrupts. Ctrl-C goes to the whole process group, so whoever
    started it ends it.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def end_with_parent() -> None:
    """Have this process end soon after the one that started it: it would wait for work for ever."""
    # A timer and not a thread: with a second thread in its process, spaCy takes 15 % longer.
    signal.signal(signal.SIGALRM, _exit_without_parent)
    signal.setitimer(signal.ITIMER_REAL, _PARENT_CHECK_SECONDS, _PARENT_CHECK_SECONDS)


def _exit_without_parent(*_: object) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None and os.getppid() != parent.pid:
        os._exit(1)


@contextmanager
def set_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """The variables have these values inside the block and their former values after it."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
