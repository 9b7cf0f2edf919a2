"""A heap of the k best values, the least first."""

from __future__ import annotations

from esr.engines.embedded.search.kernel.numba_support import inlined


@inlined
def replace_least(top, value):
    """Put a value in the place of the least of the k best, which is the first."""
    place, size = 0, len(top)
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and top[child + 1] < top[child]:
            child += 1
        if top[child] >= value:
            break
        top[place] = top[child]
        place = child
    top[place] = value
