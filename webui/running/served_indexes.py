"""The indexes that are served, each by a name. Each is opened by the first request that needs it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from urllib.parse import parse_qs

from flask import Flask, g, request

import esr
from esr.engines import deadline
from esr.engines.index import Index
from esr.engines.redact import redacted
from esr.errors import EngineUnreachable, UsageError, unknown
from esr.ranking.searcher import Searcher
from webui.arguments.search_request import blaming
from webui.running.gate import Busy, Gate
from webui.running.monitored_index import guarded
from webui.running.settings import Settings
from webui.running.stage_times import OPEN, QUEUE, stage

ONLY = "index"
"""The name of an index that was given none."""
RESERVED = 4
"""Threads that never wait for an engine: they tell that the server is alive, and that others are busy."""
_NAMED = re.compile(r"([a-z][a-z0-9_-]*)=(.+)")


def places(text: str) -> dict[str, str]:
    """The places by name of `where`, or of `name=where name=where …`. Raises UsageError."""
    if not _NAMED.match(text.strip()):
        return {ONLY: text}
    found: dict[str, str] = {}
    for part in text.split():
        match = _NAMED.fullmatch(part)
        if match is None:
            raise UsageError(f"several indexes are given as name=where name=where, not {redacted(part)!r}")
        name, where = match.groups()
        if name in found:
            raise UsageError(f"two indexes have the name {name!r}: give each its own")
        found[name] = where
    return found


class Served:
    """One index that is served: a way to open it, and the gate before it."""

    def __init__(self, opens: Callable[[], Searcher], gate: Gate) -> None:
        self._opens = opens
        self._searcher: Searcher | None = None
        self._lock = threading.Lock()
        self.gate = gate

    def open(self) -> Index:
        """The index, opened if it is not yet. Raises as `esr.open`, and Busy if another takes too long."""
        if self._searcher is None:
            with stage(OPEN):
                if not self._lock.acquire(timeout=deadline.left(60.0)):
                    raise Busy("the index is being opened")
                try:
                    if self._searcher is None:
                        self._searcher = self._opens()
                        self._searcher.index.warm()
                except EngineUnreachable as error:
                    self.gate.breaker.failed(error)
                    raise
                finally:
                    self._lock.release()
        return guarded(self._searcher.index, self.gate.breaker)

    def close(self) -> None:
        if self._searcher is not None:
            self._searcher.close()

    def hide(self, message: str) -> str:
        """A message without the index's place: that is nobody's business outside."""
        return message if self._searcher is None else message.replace(self._searcher.index.where, "the index")


class Indexes:
    """All that are served. The first is the one of a request that names none."""

    def __init__(self, openers: Mapping[str, Callable[[], Searcher]], settings: Settings) -> None:
        self._settings = settings
        inside = threading.BoundedSemaphore(max(1, settings.threads - RESERVED))
        self.by_name = {
            name: Served(opens, Gate(settings.searches, inside, settings.deadline))
            for name, opens in openers.items()
        }

    @classmethod
    def at(cls, places: Mapping[str, str], settings: Settings) -> Indexes:
        def opener(where: str) -> Callable[[], Searcher]:
            return lambda: esr.open(where)

        return cls({name: opener(where) for name, where in places.items()}, settings)

    def find(self, name: str) -> Served:
        """The index of this name. Raises UsageError with the nearest one."""
        if not name:
            return next(iter(self.by_name.values()))
        if name not in self.by_name:
            with blaming("index"):
                raise unknown("index", name[:60], self.by_name)
        return self.by_name[name]

    def entered(self) -> Index:
        """The index of the present request, which from now on has a place at its gate and a deadline.

        The deadline is the one of the settings, or `g.seconds`.
        """
        if "engine" not in g:
            given = parse_qs(request.query_string.decode("utf-8", "replace"))
            served = self.find(given.get("index", [""])[0].strip())
            with ExitStack() as stack:
                seconds = g.get("seconds", self._settings.deadline)
                stack.enter_context(deadline.within(seconds))
                with stage(QUEUE):
                    served.gate.enter(seconds)
                stack.callback(served.gate.leave)
                g.engine = served.open()
                g.left = stack.pop_all()
        index: Index = g.engine
        return index

    def install(self, app: Flask) -> None:
        """Give up the place at the gate when a request is done."""

        @app.teardown_request
        def leave(error: BaseException | None) -> None:
            stack = g.pop("left", None)
            if stack is not None:
                stack.close()

    def hide(self, message: str) -> str:
        for served in self.by_name.values():
            message = served.hide(message)
        return message

    def close(self) -> None:
        for served in self.by_name.values():
            served.close()


class RequestSearcher(Searcher):
    """Searches in the index that the present request is about."""

    def __init__(self, indexes: Indexes) -> None:
        self._indexes = indexes

    @property
    def index(self) -> Index:  # type: ignore[override]
        return self._indexes.entered()

    def close(self) -> None:
        self._indexes.close()
