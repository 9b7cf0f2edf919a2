"""Worker processes: interrupts from the keyboard, their end, and their environment variables."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_PARENT_CHECK_SECONDS = 2.0


@contextmanager
def defer_interrupt() -> Iterator[None]:
    """Delay an interrupt to the end of the block, since inside a call of a pool it could leave a lock held.

    Processes started in the block ignore interrupts. Ctrl-C goes to the whole process group, so the process
    that started them ends them.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def end_with_parent() -> None:
    """End this process soon after its parent ends; otherwise it would block forever waiting for work."""
    # A timer, not a thread: with a second thread in its process, spaCy takes 15 % longer.
    signal.signal(signal.SIGALRM, _exit_without_parent)
    signal.setitimer(signal.ITIMER_REAL, _PARENT_CHECK_SECONDS, _PARENT_CHECK_SECONDS)


def _exit_without_parent(*_: object) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None and os.getppid() != parent.pid:
        os._exit(1)


@contextmanager
def set_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables inside the block, also for processes started in it; then restore them."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
