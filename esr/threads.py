"""Threads: work in the background, methods and blocks that take turns, and values that are made once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

Arguments = ParamSpec("Arguments")
Owner = TypeVar("Owner")
Result = TypeVar("Result")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


Thread = threading.Thread


def start_thread(work: Callable[..., object], *arguments: object, name: str | None = None) -> Thread:
    """Call a function in a new thread, which does not keep the process from ending."""
    thread = Thread(target=work, args=arguments, name=name, daemon=True)
    thread.start()
    return thread


class Repeated:
    """Calls a function in a thread every so many seconds while the block runs.

    The end of the block waits for a call in progress, at most `patience` seconds after an error in the block.
    """

    def __init__(
        self, seconds: float, work: Callable[[], object], name: str | None = None, *, patience: float = 0.0
    ) -> None:
        self._seconds = seconds
        self._work = work
        self._name = name
        self._patience = patience
        self._ends = threading.Event()
        self.has_run: bool = False
        """Whether the function has been called."""

    def __enter__(self) -> Self:
        self._thread = start_thread(self._run, name=self._name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.set()
        self._thread.join(None if kind is None else self._patience)

    def _run(self) -> None:
        while not self._ends.wait(self._seconds):
            self.has_run = True
            self._work()


class Turn:
    """What one thread at a time may hold. After a fork, the child needs a new one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def take(self, seconds: float = 0.0) -> Iterator[bool]:
        """Hold the turn in the block. Gives False if other threads have held it for so many seconds."""
        is_taken = self._lock.acquire(timeout=max(0.0, seconds))
        try:
            yield is_taken
        finally:
            if is_taken:
                self._lock.release()


def take_turns(
    method: Callable[Concatenate[Owner, Arguments], Result],
) -> Callable[Concatenate[Owner, Arguments], Result]:
    """A method that one thread at a time runs. It excludes the object's other methods of this kind.

    They may call each other. Do not hold an object in a process that forks: the child could wait forever.
    """

    @wraps(method)
    def run(owner: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        lock: Any = owner.__dict__.get(_LOCK) or owner.__dict__.setdefault(_LOCK, threading.RLock())
        with lock:
            return method(owner, *args, **kwargs)

    return run


_LOCK = "_turns"
"""The attribute with the lock of an object. Setting a default is atomic."""


class OnceByKey(dict[K, V]):
    """Values by key, each made once, by the first thread that needs it. Others wait meanwhile."""

    def __init__(self, limit: int | None = None) -> None:
        """`limit` is the maximum number of values; beyond it, the oldest is dropped."""
        super().__init__()
        self._limit = limit

    @take_turns
    def make(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key, made if it is missing. Raises what `make` raises, and then keeps nothing."""
        if key not in self:
            value = make()
            while self._limit is not None and len(self) >= self._limit:
                del self[next(iter(self))]
            self[key] = value
        return self[key]
