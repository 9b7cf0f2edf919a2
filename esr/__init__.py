"""Search for sentences of news, embedded or in Elasticsearch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from esr.queries import ParsedQuery
    from esr.ranking.searcher import Searcher

__version__ = "0.1.0"
__all__ = ["__version__", "open", "parse_query"]


def open(where: str) -> Searcher:
    """Open an index for search: a folder, or `http(s)://host:port/alias`.

    Raises IndexMissing, IndexUnusable or EngineUnreachable.
    """
    from esr.engines.factory import open_index
    from esr.ranking.searcher import Searcher

    return Searcher(open_index(where))


def parse_query(text: str) -> ParsedQuery:
    """What a query says in the query language: give it to a searcher in place of plain words."""
    from esr.queries import parse

    return parse(text)
