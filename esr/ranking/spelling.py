"""Did you mean: words of the collection in place of those that hardly any sentence has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from esr.ranking.searcher import PreparedQuery


class WordCount(NamedTuple):
    """A word as people write it, and how many sentences have it."""

    text: str
    sentences: int


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Words that may have been meant by one of a query, the best first.

    The word stands from `start` to `end` in the query; `queries` are the query with each of the alternatives.
    """

    word: str
    start: int
    end: int
    alternatives: tuple[WordCount, ...]
    queries: tuple[str, ...]

    def as_dict(self) -> Mapping[str, Any]:
        """The suggestion as JSON."""
        alternatives = [
            {**alternative._asdict(), "query": query}
            for alternative, query in zip(self.alternatives, self.queries, strict=True)
        ]
        return {"word": self.word, "start": self.start, "end": self.end, "alternatives": alternatives}


def suggest(prepared: PreparedQuery) -> tuple[Suggestion, ...]:
    """Suggestions for the words of a query that no sentence has, or hardly any."""
    return ()
