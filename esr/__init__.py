"""Search for sentences of news, embedded or in Elasticsearch."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING

from esr.errors import UsageError

if TYPE_CHECKING:
    from esr.query import ParsedQuery
    from esr.ranking.searcher import Searcher

__version__ = "0.1.0"
__all__ = ["__version__", "open", "parse_query"]


def open(where: str | PathLike[str]) -> Searcher:
    """Open an index for search: a folder, or `http(s)://host:port/alias`.

    Raises UsageError, IndexMissing, IndexUnusable or EngineUnreachable.
    """
    from esr.index.factory import open_index
    from esr.ranking.searcher import Searcher

    path = fspath(where) if isinstance(where, PathLike) else where
    if not isinstance(path, str):
        raise UsageError(f"an index is a folder or http(s)://host:port/alias, not {where!r}")
    return Searcher(open_index(path))


def parse_query(text: str) -> ParsedQuery:
    """Parse a query in the query language, as a searcher does."""
    from esr.query import parse

    if not isinstance(text, str):
        raise UsageError(f"a query is a text, not {text!r}")
    return parse(text)
