"""What the command, the page and the operation show: how many documents each source has."""

from __future__ import annotations

from collections import Counter

from esr.plugin import Index


def count_sources(index: Index, query: str, limit: int) -> list[tuple[str, int]]:
    """The sources of the best sentences for a query, with the number of their sentences, most first."""
    hits = index.search(query, k=100)
    return Counter(hit.source or "unknown" for hit in hits).most_common(limit)
