"""The evidence for a claim, for the API and for the page."""

from __future__ import annotations

from esr.evidence.claim_evidence import ClaimEvidence, find_evidence, open_opinion
from esr.query import in_language, literal
from esr.ranking.searcher import Searcher
from webui.arguments.request import Arguments, check_query, parse_filters
from webui.running.problems import blame_argument
from webui.running.settings import Settings

_SECONDS = 5.0
"""How long a cross-encoder may read the texts about a claim. Those left have no opinion."""


def read_evidence(searcher: Searcher, arguments: Arguments, settings: Settings) -> ClaimEvidence:
    """The evidence for the claim of a request. Raises RequestError."""
    claim = in_language(literal(arguments.first("q")), arguments.value("query_language"))
    filters = parse_filters(arguments)
    check_query(searcher, claim, settings)
    opinion = open_opinion(seconds=_SECONDS)
    with blame_argument("q"):
        return find_evidence(
            searcher,
            claim,
            filters,
            k=arguments.value("k"),
            order=arguments.value("order"),
            opinion=opinion,
        )
