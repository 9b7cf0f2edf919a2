"""An index whose calls are timed, and whose silence is remembered."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, cast

from esr.engines import deadline
from esr.engines.index import Index
from esr.errors import EngineUnreachable
from webui.running.gate import Breaker
from webui.running.stage_times import stage

ASKING = frozenset(
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
        "facets",
        "document",
        "documents_at",
        "terms_with_prefix",
        "request",
        "status",
        "ready",
    }
)
"""The methods of an index that ask its engine. Each is a stage of its own."""
REMEMBERED = frozenset({"snapshot", "statistics", "features", "histogram", "request"})
"""What may be answered from memory, or by an engine that cannot search: it says nothing of the engine."""


class Guarded:
    """Stands before an index. An engine's failure opens the breaker, its answer closes it."""

    def __init__(self, index: Index, breaker: Breaker) -> None:
        self._index = index
        self._breaker = breaker

    def snapshot(self) -> Index:
        return guarded(self._ask("snapshot"), self._breaker)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._index, name)
        return partial(self._ask, name) if name in ASKING else value

    def _ask(self, name: str, *args: Any, **kwargs: Any) -> Any:
        granted = deadline.left(math.inf)  # an engine in a folder looks at no clock
        try:
            with stage(name):
                found = getattr(self._index, name)(*args, **kwargs)
        except EngineUnreachable as error:
            if granted >= self._breaker.fair:
                self._breaker.failed(error)
            raise
        if name not in REMEMBERED:
            self._breaker.worked()
        return found


def guarded(index: Index, breaker: Breaker) -> Index:
    return cast(Index, Guarded(index, breaker))
