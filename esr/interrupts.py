"""Interrupts from the keyboard around the calls of a pool of processes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


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
