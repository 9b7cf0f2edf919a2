"""How the time of some work grows with its size, however fast the machine is and whatever else it does."""

from __future__ import annotations

import time
from collections.abc import Callable

GROWTH = 8
"""Of two sizes. Linear work takes 8 times as long, quadratic work 64 times."""
TOLERANCE = 3
"""For what is no part of the work: caches, collections of garbage, an interrupt."""
NOISE_SECONDS = 0.005
"""What takes less time at the smaller size is not measured."""
_ATTEMPTS = 3


def check_linear(work: Callable[[int], object], size: int) -> None:
    """Fail if the work of a size takes much more than its share of the processor time of smaller work."""
    smaller = max(NOISE_SECONDS, min(_seconds(work, size // GROWTH) for _ in range(_ATTEMPTS)))
    limit = TOLERANCE * GROWTH * smaller
    times = []
    for _ in range(_ATTEMPTS):
        times.append(_seconds(work, size))
        if times[-1] < limit:
            return
    raise AssertionError(f"{GROWTH} times as much took {min(times) / smaller:.0f} times as long")


def _seconds(work: Callable[[int], object], size: int) -> float:
    """The processor time of this thread alone."""
    started = time.thread_time()
    work(size)
    return time.thread_time() - started
