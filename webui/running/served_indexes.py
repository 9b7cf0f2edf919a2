"""The indexes that are served, each under a name. The first request that needs an index opens it.

Requests reach an index through its gate. A wrapper times the calls of its engine, and reports their outcome
to the circuit breaker.
"""

from __future__ import annotations

import math
import os
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any, cast
from urllib.parse import parse_qs

from flask import Flask, g, request

from esr.errors import EngineUnreachable, unknown
from esr.index.contract import Index, Result
from esr.index.limits import time_remaining, within
from esr.ranking.searcher import Searcher, open_searcher
from webui.running.gate import OPEN, QUEUE, Busy, CircuitBreaker, Gate, time_stage
from webui.running.request_errors import blame_argument
from webui.running.settings import Settings

ENGINE_METHODS = frozenset(
    {
        "snapshot",
        "statistics",
        "search",
        "sentences",
        "evidence",
        "candidates",
        "features",
        "histogram",
        "parses",
        "has_parses",
        "encoder",
        "similarities",
        "nearest",
        "facets",
        "count",
        "count_days",
        "by_date",
        "document",
        "documents_at",
        "terms_with_prefix",
        "words_with_prefix",
        "similar_words",
        "written_forms",
        "values",
        "find_names",
        "name_keys",
        "request",
        "status",
        "check_ready",
    }
)
"""The methods of an index that call its engine. Each is a stage of its own in metrics and logs."""
CACHED_METHODS = frozenset(
    {
        "snapshot",
        "statistics",
        "features",
        "histogram",
        "has_parses",
        "encoder",
        "request",
        "values",
        "find_names",
        "name_keys",
    }
)
"""Methods that may succeed from memory, or on an engine that cannot search: they do not close the breaker."""


class MonitoredIndex:
    """An index with timed calls. Failures of its engine open the circuit breaker, an answer closes it."""

    def __init__(self, index: Index, breaker: CircuitBreaker) -> None:
        self._index = index
        self._breaker = breaker

    def snapshot(self) -> Index:
        return monitor(self._call("snapshot"), self._breaker)

    def on_latest(self, work: Callable[[Index], Result]) -> Result:
        return work(self.snapshot())

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._index, name)
        return partial(self._call, name) if name in ENGINE_METHODS else value

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        seconds = time_remaining(math.inf)  # infinite if there is no deadline
        try:
            with time_stage(name):
                answer = getattr(self._index, name)(*args, **kwargs)
        except EngineUnreachable as error:
            if seconds >= self._breaker.fair_seconds:
                self._breaker.record_failure(error)
            raise
        if name not in CACHED_METHODS:
            self._breaker.record_success()
        return answer


def monitor(index: Index, breaker: CircuitBreaker) -> Index:
    return cast(Index, MonitoredIndex(index, breaker))


SPARE_THREADS = 4
"""Threads that never wait for an engine: they answer health checks, and report that the server is busy."""
OPEN_SECONDS = 60.0
"""How long to wait, without a deadline, for another thread that opens the index."""
_QUOTED = r"""(?<!\w)'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
"""A quotation from the request in a message, as `repr` writes it."""
_MESSAGE_CHARS = 60  # maximum for an unknown name

Opener = Callable[[], Searcher]


class ServedIndex:
    """A served index: how to open it, and its gate."""

    def __init__(self, opener: Opener, gate: Gate) -> None:
        self._opener = opener
        self._searcher: Searcher | None = None
        self._lock = threading.Lock()
        self.gate = gate

    def open(self) -> Index:
        """The index, opened if necessary. Raises as `esr.open`, and Busy if another thread takes too long."""
        if self._searcher is None:
            with time_stage(OPEN):
                if not self._lock.acquire(timeout=time_remaining(OPEN_SECONDS)):
                    raise Busy("the index is being opened")
                try:
                    if self._searcher is None:
                        self._searcher = self._opener()
                        self._searcher.index.warm_up()
                except EngineUnreachable as error:
                    self.gate.breaker.record_failure(error)
                    raise
                finally:
                    self._lock.release()
        return monitor(self._searcher.index, self.gate.breaker)

    def close(self) -> None:
        if self._searcher is not None:
            self._searcher.close()

    @property
    def address(self) -> str | None:
        """The location of the open index, or None if it is a folder's bare name, which could be any word."""
        where = self._searcher.index.where if self._searcher is not None else ""
        return where if "/" in where or os.sep in where else None


class ServedIndexes:
    """All served indexes. A request that names none gets the first."""

    def __init__(self, openers: Mapping[str, Opener], settings: Settings) -> None:
        self._settings = settings
        inside = threading.BoundedSemaphore(max(1, settings.threads - SPARE_THREADS))
        self.by_name = {
            name: ServedIndex(opener, Gate(settings.searches, inside, settings.deadline))
            for name, opener in openers.items()
        }

    @classmethod
    def at(cls, locations: Mapping[str, str], settings: Settings) -> ServedIndexes:
        def opener(where: str) -> Opener:
            return lambda: open_searcher(where)

        return cls({name: opener(where) for name, where in locations.items()}, settings)

    def find(self, name: str) -> ServedIndex:
        """The index of this name, the first if it is empty. Raises UsageError with the nearest name."""
        if not name:
            return next(iter(self.by_name.values()))
        if name not in self.by_name:
            with blame_argument("index"):
                raise unknown("index", name[:_MESSAGE_CHARS], self.by_name)
        return self.by_name[name]

    def enter(self) -> Index:
        """The index of the current request, which holds a slot of the gate and has a deadline until it ends.

        The deadline is `g.deadline_seconds`, or that of the settings.
        """
        if "index" not in g:
            served = self.find(_index_name(request.query_string))
            with ExitStack() as stack:
                seconds = g.get("deadline_seconds", self._settings.deadline)
                stack.enter_context(within(seconds))
                with time_stage(QUEUE):
                    served.gate.enter(seconds)
                stack.callback(served.gate.leave)
                g.index = served.open()
                g.leave_index = stack.pop_all()
        index: Index = g.index
        return index

    def install(self, app: Flask) -> None:
        """Free the slot of a request when it is done."""

        @app.teardown_request
        def leave(error: BaseException | None) -> None:
            stack = g.pop("leave_index", None)
            if stack is not None:
                stack.close()

    def redact(self, message: str) -> str:
        """The message without locations of indexes, which clients need not know. Quotations are kept."""
        addresses = {served.address for served in self.by_name.values()} - {None}
        if not addresses:
            return message
        longest_first = sorted(map(str, addresses), key=len, reverse=True)
        parts = rf"{_QUOTED}|(?<!\w)({'|'.join(map(re.escape, longest_first))})(?![\w-])"
        return re.sub(parts, lambda part: "the index" if part[1] else part[0], message, flags=re.IGNORECASE)

    def close(self) -> None:
        for served in self.by_name.values():
            served.close()


def _index_name(query_string: bytes) -> str:
    """The name of the index in a query string; empty if it names none."""
    if b"index" not in query_string and b"%" not in query_string:
        return ""
    arguments = parse_qs(query_string.decode("utf-8", "replace"))
    return arguments.get("index", [""])[0].strip()


class RequestSearcher(Searcher):
    """Searches the index that the current request names."""

    def __init__(self, indexes: ServedIndexes) -> None:
        self._indexes = indexes

    @property
    def index(self) -> Index:  # type: ignore[override]
        return self._indexes.enter()

    def close(self) -> None:
        self._indexes.close()
