"""The limit on a query's terms, checked before any engine is asked."""

from __future__ import annotations

from esr.queries import ParsedQuery
from esr.queries.interpretation import Interpretation
from esr.ranking.searcher import Searcher
from webui.running.request_errors import RequestError, blame_argument
from webui.running.settings import Settings


def check_query(
    searcher: Searcher, query: ParsedQuery, settings: Settings, field: str = "q"
) -> Interpretation:
    """What the query asks for. Raises RequestError if that is nothing, or if it has too many terms."""
    with blame_argument(field):
        interpretation = searcher.interpret(query)
    terms = len(interpretation.counts)
    if terms > settings.query_terms:
        limit = settings.query_terms
        raise RequestError(f"the query has {terms} distinct terms: at most {limit} are allowed", field)
    return interpretation
