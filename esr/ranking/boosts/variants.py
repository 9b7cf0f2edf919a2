"""The boost `variants`: terms that begin as a term of the query does."""

from __future__ import annotations

from esr.index.questions import TermsWithPrefix
from esr.ranking.boosts.boost import Boost, BoostQuery, Expansion, Settings, weight_parameter

MIN_PREFIX = 5
"""Minimum length of the prefix that two variants share."""
MAX_ENDING = 2
"""Maximum number of letters after the shared prefix."""
MAX_VARIANTS = 10
"""Maximum number of variants of a term, in alphabetical order."""
_MAX_TERMS_READ = 100


def find_variants(term: str, query: BoostQuery) -> list[str]:
    """Find the variants of a term in the collection, in alphabetical order. Numbers have none.

    Stemming conflates inflected forms but not derived words, such as `migrant` and `migration`. A long common
    prefix is a cheap sign that two terms are related (Xu & Croft 1998).
    """
    mark = query.index.analyzer.mark  # of the language, in an index by language: no part of the word
    word = term.removeprefix(mark)
    prefix_length = max(MIN_PREFIX, len(word) - MAX_ENDING)
    if not word.isalpha() or len(word) < prefix_length:
        return []
    candidates = query.index.vocabulary(TermsWithPrefix(mark + word[:prefix_length], _MAX_TERMS_READ))
    variants = [other for other in candidates if other not in query.counts]
    return [other for other in variants if _is_variant(word, other.removeprefix(mark))][:MAX_VARIANTS]


def _is_variant(word: str, other: str) -> bool:
    return other.isalpha() and word.startswith(other[:-MAX_ENDING])


def expand_variants(settings: Settings, query: BoostQuery) -> Expansion:
    """Expand by variants. Each has its term's count in the query, or the sum for a variant of two terms."""
    terms: dict[str, float] = {}
    for term, count in query.counts.items():
        for variant in find_variants(term, query):
            terms[variant] = terms.get(variant, 0.0) + count
    return Expansion(terms)


VARIANTS = Boost(
    "variants",
    "terms of the collection that begin like a term of the query, except for up to "
    f"{MAX_ENDING} letters at the end, with w times its weight; sentences without them lose nothing",
    "after Xu & Croft 1998",
    expand_variants,
    (weight_parameter(0.2, (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)),),
)
