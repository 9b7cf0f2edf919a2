"""A ranking as a request body, for other applications to send to Elasticsearch."""

from __future__ import annotations

from typing import Any

from esr.engines.index import Filters
from esr.errors import UsageError
from esr.ranking.searcher import PreparedQuery


def raw_request(
    prepared: PreparedQuery, k: int, *, filters: Filters, standalone: bool = False
) -> dict[str, Any]:
    """The body of a `_search` on the alias. Raises UsageError for a ranking that has none.

    `standalone` leaves p(t|C) to Elasticsearch; it is for language models only.
    """
    ranking = prepared.ranking
    if standalone and ranking.settings().values.get("background") == "documents":
        raise UsageError("--standalone takes p(t|C) from occurrences: leave out background=documents")
    if standalone and ranking.boosts:
        raise UsageError(
            "--standalone serves any query, and a boost expands the words of one: leave out "
            + ", ".join(f"--boost {name}" for name in ranking.boosts)
        )
    return prepared.index.request(prepared.plan, k, filters, standalone=standalone)
