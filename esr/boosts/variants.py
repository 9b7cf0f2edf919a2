"""variants: adds terms of the collection with the same beginning as a query term: `migrant` for `migration`.

Stemming conflates inflected forms and keeps derived words apart. A long common prefix is a cheap sign that
two terms are related (Xu & Croft 1998).
"""

from __future__ import annotations

from esr.boosts.boost import Boost, BoostQuery, Expansion, Settings, register, weight_parameter

MIN_PREFIX = 5
"""Letters that two variants share at least."""
MAX_ENDING = 2
"""Letters at the end of one variant that the other may lack."""
MAX_VARIANTS = 10
"""Variants of a term, the first in alphabetical order."""
_MAX_TERMS_READ = 100


def find_variants(term: str, query: BoostQuery) -> list[str]:
    """The variants of a term that the collection has, in alphabetical order. Numbers have none."""
    prefix_length = max(MIN_PREFIX, len(term) - MAX_ENDING)
    if not term.isalpha() or len(term) < prefix_length:
        return []
    candidates = query.index.terms_with_prefix(term[:prefix_length], _MAX_TERMS_READ)
    variants = [other for other in candidates if _is_variant(term, other) and other not in query.counts]
    return variants[:MAX_VARIANTS]


def _is_variant(term: str, other: str) -> bool:
    return other.isalpha() and term.startswith(other[:-MAX_ENDING])


def expand(settings: Settings, query: BoostQuery) -> Expansion:
    """A variant has its term's count in the query; a variant of two terms has the sum of both."""
    terms: dict[str, float] = {}
    for term, count in query.counts.items():
        for variant in find_variants(term, query):
            terms[variant] = terms.get(variant, 0.0) + count
    return Expansion(terms)


register(
    Boost(
        "variants",
        "terms of the collection that begin as a query's term does, but for up to "
        f"{MAX_ENDING} letters at the end, count at w of its weight; a sentence without them loses nothing",
        "after Xu & Croft 1998",
        expand,
        (weight_parameter(0.2, (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)),),
    )
)
