"""Loads the kernel when that saves time.

Loading takes half a second, so it waits until searches have taken as long, or until a server asks for it. The
first time on a machine, compiling takes half a minute or more and is left to another process. Until the
kernel is loaded, and where numba has no wheels, searches score every candidate.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from esr.processes import after_fork, run_python
from esr.stdlib import import_lazily
from esr.threads import Turn, start_thread

if TYPE_CHECKING:
    import logging

    from esr.threads import Thread
else:
    logging = import_lazily("logging")

KERNEL = "esr.folder.kernel.search"
SUPPORT = "esr.folder.kernel.numba_support"
LOAD_AFTER = 0.5
"""Seconds of exhaustive searches after which the kernel is loaded."""
MAX_COUNTED = 0.05
"""Maximum number of seconds counted per search, so that a few slow searches do not load the kernel."""
COMPILING = "the kernel is being compiled"
LOOK_SECONDS = 1.0
"""Seconds between checks whether the kernel has been compiled."""
MAX_ATTEMPTS = 3
"""Maximum number of times that a process starts the compiler, if it ends without a result."""


class Loader:
    """Loads the kernel at most once."""

    def __init__(self) -> None:
        self.kernel: Any = None
        """The module `KERNEL`, or None while searches score every candidate."""
        self.reason: str = "the compiled kernel is not loaded yet"
        """The reason why searches have no kernel."""
        self._spent = 0.0
        self._is_tried = False
        self._compiler: Thread | None = None
        """Waits for the process that compiles the kernel, while searches continue."""
        self._failure: str | None = None
        self._attempts = 0
        self._next_look = 0.0
        self._turn = Turn()

    def renew(self) -> None:
        """Reset the loader after a fork, which does not copy loading threads, unless the kernel is loaded."""
        if self.kernel is None:
            self.__init__()  # type: ignore[misc]

    @contextmanager
    def count_time(self) -> Iterator[None]:
        """Time an exhaustive search.

        Afterwards this may load the kernel, but never waits for the compiler.
        """
        started = time.perf_counter()
        yield
        self._spent += min(time.perf_counter() - started, MAX_COUNTED)
        if self._spent > LOAD_AFTER and not self._is_tried and time.monotonic() >= self._next_look:
            self.load(apart=True, wait=False)

    def load(self, *, apart: bool = False, wait: bool = True) -> None:
        """Load the kernel, if numba is installed. Other threads score every candidate meanwhile.

        With `apart`, another process compiles the kernel if necessary, since concurrent searches in this
        process would starve the compiler. Without `wait`, a later call loads the result.
        """
        if self._is_tried:
            return
        with self._turn.take() as is_first:
            if is_first:
                self._load(apart, wait)

    def _load(self, apart: bool, wait: bool) -> None:
        self._is_tried = True
        try:
            if apart and not import_module(SUPPORT).is_kept("search", "rank"):  # compiled last
                if self.reason != COMPILING:
                    self.reason = COMPILING
                    logging.getLogger(__name__).info(
                        "another process compiles the search in index folders, once on this machine: "
                        "for about a minute, searches score every candidate"
                    )
                if not wait:
                    self._start_compiler()
                    self._is_tried = False
                    return
                compile_apart()
            self.kernel = import_module(KERNEL)
        except ModuleNotFoundError as error:
            self.reason = "numba is not installed"
            logging.getLogger(__name__).info("searches go without numba: %s", error)
        except Exception as error:  # an incompatible numba, or no place for its cache
            self.reason = "numba does not load"
            logging.getLogger(__name__).warning("searches go without numba: %s", error)

    def _start_compiler(self) -> None:
        """Compile the kernel in another process, unless one is already compiling.

        Raises ChildProcessError if that has failed.
        """
        self._next_look = time.monotonic() + LOOK_SECONDS
        if (self._compiler and self._compiler.is_alive()) or import_module(SUPPORT).is_compiling():
            return
        if self._failure or self._attempts == MAX_ATTEMPTS:
            raise ChildProcessError(self._failure or "the compiled kernel is not cached")
        self._attempts += 1
        self._compiler = start_thread(self._wait_for_compiler, name="esr-compiler")

    def _wait_for_compiler(self) -> None:
        try:
            status = compile_apart(unless_another_does=True)
            self._failure = f"compiling ended with status {status}" if status else None
        except Exception as error:  # no process can be started
            self._failure = f"nothing can be compiled: {error}"


def compile_apart(*, unless_another_does: bool = False) -> int:
    """Compile the kernel into numba's cache in a separate process. Returns its exit status.

    The process continues if this one ends or is interrupted: the next program needs the result.
    """
    code = f"from {SUPPORT} import compile_alone, is_compiling; "
    return run_python(code + f"{unless_another_does} and is_compiling() or compile_alone({KERNEL!r})")


LOADER = Loader()
after_fork(LOADER.renew)
