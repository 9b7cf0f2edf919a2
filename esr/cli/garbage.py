"""When the garbage collector looks at a command: neither while it is imported nor as it ends.

Modules are some fifty thousand objects that stay. To look for garbage among them takes a sixth of the time of
a search.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collections() -> Iterator[None]:
    """Collects nothing inside the block. What it made counts as old after it, and is seldom looked at."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # All that exists becomes old in two steps, without being looked at.
            gc.freeze()
            gc.unfreeze()
        gc.enable()


def skip_last_collections() -> None:
    """The interpreter looks for garbage as it ends, and will not find anything to look at.

    So what is open then, and in a cycle, is not closed.
    """
    atexit.register(gc.freeze)
