"""The served indexes, each under a name. The first request that needs an index opens it.

Requests reach an index through its gate. A view times the calls of its engine, and reports their outcomes to
the circuit breaker.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from urllib.parse import parse_qs

from flask import Flask, g, has_request_context, request
from werkzeug.wrappers import Response

from esr.dossiers.records import Person
from esr.errors import EngineUnreachable, unknown
from esr.index import questions
from esr.index.contract import Index
from esr.index.limits import time_remaining, within
from esr.index.view import Deadline, View, is_beside
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.second_stage.query_encoder import find_obstacle
from esr.stdlib import cached_property
from esr.threads import Turn, take_turns
from webui.running.gate import OPEN, QUEUE, WAITED, Busy, CircuitBreaker, Gate, Room, time_stage
from webui.running.problems import Forbidden, TooManyFiles, blame_argument
from webui.running.rate_limit import client_key
from webui.running.settings import DEFAULT_NAME, Settings

CACHED_STAGES = frozenset(
    question.stage
    for question in (
        questions.Features,
        questions.HasParses,
        questions.MainEncoder,
        questions.NearestIsExact,
        questions.ContentMark,
        questions.Languages,
        questions.ByValue,
        questions.TermHolders,
        questions.WordCounts,
        questions.Values,
        questions.Names,
        questions.FullNames,
        questions.NamesWithPrefix,
    )
) | {"snapshot", "statistics", "request"}
"""Calls that do not close the breaker: they may succeed from memory, or on an engine that cannot search."""


class MonitoredDeadline(Deadline):
    """A time of `time.monotonic` after which calls fail. Each call is a stage in metrics and logs.

    Failures of the engine open the circuit breaker; an answer closes it.
    """

    def __init__(self, deadline: float, breaker: CircuitBreaker) -> None:
        self._deadline = deadline
        self._breaker = breaker

    @contextmanager
    def limit(self, stage: str) -> Iterator[None]:
        seconds = self._deadline - time.monotonic()
        try:
            with time_stage(stage), within(seconds):
                time_remaining(seconds)  # raises an error if there is none
                yield
        except EngineUnreachable as error:
            if seconds >= self._breaker.fair_seconds and not is_beside.get():
                self._breaker.record_failure(error)
            raise
        if stage not in CACHED_STAGES and not is_beside.get():
            self._breaker.record_success()


def monitor(index: Index, breaker: CircuitBreaker, deadline: float = math.inf) -> View:
    """A view of the index until a deadline, a time of `time.monotonic`."""
    return View(index, deadline=MonitoredDeadline(deadline, breaker))


SPARE_THREADS = 4
"""Threads that never wait for an engine: they answer health checks, and report that the server is busy."""
_QUOTED = r"""(?<!\w)'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
"""A quotation from the request in a message, as `repr` writes it."""
_MESSAGE_CHARS = 60  # maximum length of an unknown name
_NOTHING = "you may not search any index"

Opener = Callable[[], Searcher]
Page = Callable[["Visit"], Response]
Route = Callable[..., Callable[[Page], Page]]
"""`ServedIndexes.route` bound to an application: returns a decorator for an address."""


class ServedIndex:
    """A served index: how to open it, and its gates: one for files of hits, one for all other requests."""

    def __init__(self, opener: Opener, gate: Gate, export_gate: Gate) -> None:
        self._opener = opener
        self._searcher: Searcher | None = None
        self._opening = Turn()
        self.gate = gate
        self.export_gate = export_gate

    def open(self, deadline: float) -> Index:
        """The index, opened if necessary. Raises as `esr.open`, and Busy if another thread takes too long."""
        if self._searcher is None:
            seconds = max(0.0, deadline - time.monotonic())
            with time_stage(OPEN), within(seconds), self._opening.take(seconds) as is_in_time:
                if not is_in_time:
                    raise Busy("the index is being opened")
                try:
                    if self._searcher is None:
                        self._searcher = self._opener()
                        self._searcher.index.warm_up()
                        find_obstacle(self._searcher.index, 0)  # begins to load the encoder
                except EngineUnreachable as error:
                    self.gate.breaker.record_failure(error)
                    raise
        return monitor(self._searcher.index, self.gate.breaker, deadline)

    @property
    def is_open(self) -> bool:
        """Whether a request has opened the index."""
        return self._searcher is not None

    def close(self) -> None:
        if self._searcher is not None:
            self._searcher.close()

    @property
    def address(self) -> str | None:
        """The location of the open index. None for a bare folder name, which could be any word."""
        where = self._searcher.index.where if self._searcher is not None else ""
        return where if "/" in where or os.sep in where else None


class Guard:
    """The part of each index that the sender of the current request may search: all without logins."""

    def visible(self, names: Iterable[str]) -> list[str]:
        """The names of indexes that may be searched, in the given order."""
        return list(names)

    @property
    def person(self) -> Person | None:
        """Who sends the current request; None for somebody without a login."""
        return None

    def is_known(self, name: str, *, is_group: bool = False) -> bool | None:
        """Whether an account or a group has this name; None if a provider or a proxy may know it."""
        return None

    def act_as(self, name: str) -> AbstractContextManager[object]:
        """Show what the person of this name may see, in the block. Raises Forbidden if that is nothing."""
        return nullcontext()

    @property
    def part(self) -> str:
        """A key of the visible part: equal for two senders only if they see the same part of an index."""
        return ""

    def restrict(self, index: Index) -> Index:
        """The part of the index that may be seen."""
        return index


class ServedIndexes:
    """All served indexes. A request that names none gets the first that its sender may search."""

    def __init__(
        self, openers: Mapping[str, Opener], settings: Settings, locations: Mapping[str, str] | None = None
    ) -> None:
        self._settings = settings
        self._locations = locations or {}
        self.guard = Guard()
        inside = Room(max(1, settings.threads - SPARE_THREADS))
        # Files take minutes: those that wait must leave threads to searches.
        exports_inside = Room(settings.exports + max(1, settings.threads // 4))
        self.client_exports = ClientSlots(settings.client_exports)

        def serve(opener: Opener) -> ServedIndex:
            breaker = CircuitBreaker(settings.deadline)
            gate = Gate(settings.searches, inside, breaker)
            return ServedIndex(opener, gate, Gate(settings.exports, exports_inside, breaker))

        self.by_name = {name: serve(opener) for name, opener in openers.items()}

    @classmethod
    def at(cls, locations: Mapping[str, str], settings: Settings) -> ServedIndexes:
        def opener(where: str) -> Opener:
            return lambda: open_searcher(where)

        return cls({name: opener(where) for name, where in locations.items()}, settings, locations)

    def find_name(self, text: str) -> str | None:
        """The served index of a name or a location; None if it is not served.

        What has no name, or the name of an index that is served alone, is the first.
        """
        if text in self.by_name:
            return text
        if text in ("", DEFAULT_NAME):
            return next(iter(self.by_name))
        wanted = _normalise(text)
        return next((name for name, where in self._locations.items() if _normalise(where) == wanted), None)

    @property
    def visible_names(self) -> list[str]:
        """The names of the indexes that the sender of the current request may search."""
        return self.guard.visible(self.by_name)

    def choose(self, query_string: bytes) -> str:
        """The name of the index in the current request, by default the first visible one.

        Raises Forbidden, with the same message for a hidden index and for one that does not exist, and
        UsageError with the nearest name if all indexes are visible.
        """
        name, visible = _index_name(query_string), self.visible_names
        if visible and not name:
            return visible[0]
        if name not in visible:
            if len(visible) < len(self.by_name):
                raise Forbidden(
                    f"you may not search {name[:_MESSAGE_CHARS]!r}" if name else _NOTHING, "index"
                )
            with blame_argument("index"):
                raise unknown("index", name[:_MESSAGE_CHARS], self.by_name)
        return name

    def route(
        self,
        app: Flask,
        rule: str,
        endpoint: str = "",
        method: str = "GET",
        seconds: float | None = None,
        is_export: bool = False,
    ) -> Callable[[Page], Page]:
        """A decorator that lets a view answer at this address. It gets the visit of the request.

        `seconds` is the time that the visit may take, by default that of the settings. `is_export`: whether
        the answer is a file of hits, which takes a slot of its own.
        """
        seconds = seconds or self._settings.deadline

        def add(view: Page) -> Page:
            def answer() -> Response:
                with Visit(self, request.query_string, seconds, is_export) as visit:
                    return view(visit)

            app.add_url_rule(rule, endpoint or view.__name__, answer, methods=[method])
            return view

        return add

    def redact(self, message: str) -> str:
        """The message without the locations of indexes. Quotations from the request are kept."""
        addresses = {served.address for served in self.by_name.values()} - {None}
        if not addresses:
            return message
        longest_first = sorted(map(str, addresses), key=len, reverse=True)
        parts = rf"{_QUOTED}|(?<!\w)({'|'.join(map(re.escape, longest_first))})(?![\w-])"
        return re.sub(parts, lambda part: "the index" if part[1] else part[0], message, flags=re.IGNORECASE)

    def close(self) -> None:
        for served in self.by_name.values():
            served.close()


def _normalise(where: str) -> str:
    """A location as it is compared: the whole path of a folder, an address without a slash at its end."""
    return where.rstrip("/") if "://" in where else os.path.realpath(where)


def _index_name(query_string: bytes) -> str:
    """The name of the index in a query string; empty if it names none."""
    if b"index" not in query_string and b"%" not in query_string:
        return ""
    arguments = parse_qs(query_string.decode("utf-8", "replace"))
    return arguments.get("index", [""])[0].strip()


class ClientSlots:
    """Limits what clients without a key or a login have made for them at a time."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._taken: Counter[str] = Counter()

    @contextmanager
    def take(self) -> Iterator[None]:
        """Take a slot of the client of the current request. Raises TooManyFiles."""
        if not has_request_context() or "audited" in g:
            yield
            return
        client = client_key(request.remote_addr)
        self._begin(client)
        try:
            yield
        finally:
            self._end(client)

    @take_turns
    def _begin(self, client: str) -> None:
        if self._taken[client] >= self._slots:
            raise TooManyFiles("another file is being sent to this address: wait until it is there", None)
        self._taken[client] += 1

    @take_turns
    def _end(self, client: str) -> None:
        self._taken[client] -= 1
        if not self._taken[client]:
            del self._taken[client]


class Visit:
    """A request's use of the index that it names. It begins when `searcher` is first read.

    From then on, the request has a deadline, and holds a slot of the index's gate until its end. What it
    waited for a thread is part of its time.
    """

    def __init__(
        self, indexes: ServedIndexes, query_string: bytes, seconds: float, is_export: bool = False
    ) -> None:
        self._indexes = indexes
        self._query_string = query_string
        self._seconds = seconds
        self._is_export = is_export
        self._held = ExitStack()
        """What is given back at the end."""

    @property
    def index_name(self) -> str:
        """The name of the index. Raises as `ServedIndexes.choose`."""
        return self._indexes.choose(self._query_string)

    @cached_property
    def searcher(self) -> Searcher:
        """A searcher of the index. Raises EsrError, UsageError for an unknown name of an index."""
        name = self.index_name
        if has_request_context():
            g.index_name = name
        served = self._indexes.by_name[name]
        waited = request.environ.get(WAITED, 0.0) if has_request_context() else 0.0
        deadline = time.monotonic() + self._seconds - waited
        gate = served.export_gate if self._is_export else served.gate
        with ExitStack() as held:  # is given back if the index cannot be opened: the next read tries again
            if self._is_export:
                held.enter_context(self._indexes.client_exports.take())
            with time_stage(QUEUE):
                gate.enter(self._seconds, waited)
            held.callback(gate.leave)
            index = served.open(deadline)
            self._held = held.pop_all()
        return Searcher(self._indexes.guard.restrict(index), owns_index=False)

    def redact(self, message: str) -> str:
        """As that of the indexes, for a message that is shown beside answers."""
        return self._indexes.redact(message)

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def hand_over(self) -> Callable[[], None]:
        """Keep the slot beyond the view, until the returned function is called, which may be repeated."""
        return self._held.pop_all().close
