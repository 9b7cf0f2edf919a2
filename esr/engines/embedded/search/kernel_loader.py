"""When the kernel is loaded.

numba is installed only where it has wheels. Loading the kernel takes half a second, and once on a
machine it compiles for half a minute. So it is loaded when searches have taken as long, or when a server says
that many will come. Until then every candidate is scored.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

KERNEL = "esr.engines.embedded.search.kernel.search"
SUPPORT = "esr.engines.embedded.search.kernel.numba_support"
LOAD_AFTER = 0.5
"""Seconds of exhaustive searches after which the kernel is loaded."""
MAX_COUNTED = 0.05
"""At most so many seconds of one search count: a few slow ones do not load it."""


class Loader:
    """Loads the kernel once."""

    def __init__(self) -> None:
        self.kernel: Any = None
        """The module `KERNEL`, or None while every candidate is scored."""
        self.reason = "the compiled kernel is not loaded yet"
        """Why there is no kernel."""
        self._spent = 0.0
        self._is_tried = False
        self._lock = threading.Lock()

    @contextmanager
    def count_time(self) -> Iterator[None]:
        """Around an exhaustive search."""
        started = time.perf_counter()
        yield
        self._spent += min(time.perf_counter() - started, MAX_COUNTED)
        if self._spent > LOAD_AFTER:
            self.load()

    def load(self, *, apart: bool = False) -> None:
        """Load the kernel, where numba is installed. Other threads score every candidate meanwhile.

        `apart`: another process compiles it, if that is to be done. In this one, searches that come meanwhile
        would leave the compiler no time.
        """
        if self._is_tried or not self._lock.acquire(blocking=False):
            return
        import logging  # which a search without the kernel does not need

        try:
            if apart and not import_module(SUPPORT).is_kept("search", "search"):
                _compile_apart()
            self.kernel = import_module(KERNEL)
        except ModuleNotFoundError as error:
            self.reason = "numba is not installed"
            logging.getLogger(__name__).info("searches go without numba: %s", error)
        except Exception as error:  # a numba too old, or not for this numpy; no place for its cache
            self.reason = "numba does not load"
            logging.getLogger(__name__).warning("searches go without numba: %s", error)
        finally:
            self._is_tried = True
            self._lock.release()


def _compile_apart() -> None:
    """Compile the kernel in a process of its own, which leaves it in numba's cache."""
    import subprocess  # which other processes do not need

    code = f"import sys; sys.path[:] = {sys.path!r}; from {SUPPORT} import compile_alone; "
    code += f"compile_alone({KERNEL!r})"
    nowhere = subprocess.DEVNULL
    subprocess.run([sys.executable, "-c", code], stdin=nowhere, stdout=nowhere, stderr=nowhere, check=False)


LOADER = Loader()
