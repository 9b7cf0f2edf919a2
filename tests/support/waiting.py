"""Wait for what another thread or process does, however long a busy machine takes."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], what: str = "it", seconds: float = 60.0) -> None:
    """Return as soon as the condition holds. It fails with `what` if it takes much too long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen in {seconds:g} seconds"
        time.sleep(0.01)
