"""The boost `speech`: sentences with words of speech or a quotation."""

from __future__ import annotations

import re

from esr.index.questions import Features
from esr.ranking.boosts.boost import Boost, BoostQuery, Expansion, Settings, weight_parameter

SPEECH = {
    "said says told": re.compile(
        r"\bwhat\s+(?:did|does|do|has|have|had)\s+\w.*?\b(?:say|said|tell|told)\b"
        r"|^\W*[\w.'’-]+(?:\s+[\w.'’-]+){0,4}?\s+(?:said|says|told|tells)\s+\w",
        re.IGNORECASE,
    ),
    "sagte sagt erklärte": re.compile(
        r"\bwas\s+(?:sagte?|hat|haben)\s+\w|^\W*[\w.-]+(?:\s+[\w.-]+){0,4}?\s+(?:sagte?|erklärte?)\s+\w",
        re.IGNORECASE,
    ),
}
"""Queries for what somebody said, by the language's verbs that report speech."""
QUOTE = "quote"
"""The feature of sentences with direct speech."""


def expand_speech(settings: Settings, query: BoostQuery) -> Expansion:
    """Expand "X said …" and "what did X say about Y" by verbs of speech, and by a step on direct speech.

    A verb of the query itself gains no weight, which would lower sentences without it. In an index without
    the feature `quote`, the expansion has only verbs.
    """
    verbs = next((verbs for verbs, asks in SPEECH.items() if asks.search(query.text)), None)
    if verbs is None:
        return Expansion()
    terms = [term for term in query.index.analyzer.terms(verbs) if term not in query.counts]
    stored = QUOTE in query.index.status(Features())
    return Expansion(dict.fromkeys(terms, 1.0), [QUOTE] if stored else [])


SPEECH_BOOST = Boost(
    "speech",
    "w for sentences with a verb of speech or with direct speech, if the query is of the form `X said …` "
    "or `what did X say about Y`, in English or German; direct speech needs esr enrich",
    "esr",
    expand_speech,
    (weight_parameter(0.5, (0.0, 0.2, 0.5, 1.0, 1.5, 2.0)),),
)
