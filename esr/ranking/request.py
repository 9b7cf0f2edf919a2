"""A ranking as a request that other applications send to Elasticsearch."""

from __future__ import annotations

from typing import Any

from esr.engines.index import Filters
from esr.errors import UsageError
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher


def raw_request(
    searcher: Searcher, query: str, k: int, *, ranking: Ranking, filters: Filters, standalone: bool = False
) -> dict[str, Any]:
    """The body for the alias's `_search`. Raises UsageError for a query that has none.

    `standalone` leaves p(t|C) to Elasticsearch: for language models only.
    """
    if standalone and ranking.settings().values.get("background") == "documents":
        raise UsageError("--standalone takes p(t|C) from occurrences: leave out background=documents")
    if standalone and ranking.boosts:
        raise UsageError(
            "--standalone is for any words, and a boost is found for the words of one query: leave out "
            + ", ".join(f"--boost {name}" for name in ranking.boosts)
        )
    prepared = searcher.prepare(query, ranking)
    return prepared.index.request(prepared.plan, k, filters, standalone=standalone)
