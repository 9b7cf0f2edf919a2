"""An index whose calls are timed, and whose failures open a circuit breaker."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from esr.engines import deadline
from esr.engines.index import Index, Result
from esr.errors import EngineUnreachable
from webui.running.circuit_breaker import CircuitBreaker
from webui.running.stage_times import time_stage

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
"""The methods of an index that ask its engine. Each is a stage of its own."""
CACHED_METHODS = frozenset(
    {
        "snapshot",
        "statistics",
        "features",
        "histogram",
        "encoder",
        "request",
        "values",
        "find_names",
        "name_keys",
    }
)
"""Methods that may answer from memory or from an engine that cannot search: they close no breaker."""


class MonitoredIndex:
    """Wraps an index. A failure of its engine counts towards opening the breaker, an answer closes it."""

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
        seconds = deadline.time_remaining(math.inf)  # an engine in a folder has no deadline
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
