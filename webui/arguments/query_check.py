"""Which queries are refused before any engine is asked."""

from __future__ import annotations

from esr.ranking.searcher import Searcher
from webui.arguments.search_request import BadArgument, blaming
from webui.running.settings import Settings


def check_terms(searcher: Searcher, query: str, settings: Settings, field: str = "q") -> None:
    """Raises BadArgument for a query with nothing to search for, or with too many terms."""
    with blaming(field):
        terms = len(searcher.terms(query))
    if terms > settings.query_terms:
        most = settings.query_terms
        raise BadArgument(f"the query has {terms} distinct terms: at most {most} are allowed", field)
