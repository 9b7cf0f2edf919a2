"""When the compiled kernel is loaded.

numba is installed only where it has wheels. Loading it takes half a second, and once on a machine it compiles
for some seconds. So it is loaded when searches have taken as long, or when a server says that many will come.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

PAYS = 0.5
"""Seconds of searching by numpy after which the kernel is loaded."""
COUNTS = 0.05
"""At most so much of one search counts: a few slow ones do not load it."""


class Loader:
    """Loads the kernel once."""

    def __init__(self) -> None:
        self.kernel: Any = None
        """The module `esr.engines.embedded.search.kernel`, or None while numpy does the work."""
        self._spent = 0.0
        self._tried = False
        self._lock = threading.Lock()

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Around a search by numpy."""
        started = time.perf_counter()
        yield
        self._spent += min(time.perf_counter() - started, COUNTS)
        if self._spent > PAYS:
            self.load()

    def load(self) -> None:
        """Load the kernel, where numba is installed. Other threads search by numpy meanwhile."""
        if self._tried or not self._lock.acquire(blocking=False):
            return
        try:
            self.kernel = import_module("esr.engines.embedded.search.kernel")
        except ModuleNotFoundError as error:
            logging.getLogger(__name__).info("searches go without numba: %s", error)
        except Exception as error:  # a numba too old, or not for this numpy; no place for its cache
            logging.getLogger(__name__).warning("searches go without numba: %s", error)
        finally:
            self._tried = True
            self._lock.release()


LOADER = Loader()
