"""variants: a query's term brings terms of the collection that begin alike, as `migrant` for `migration`.

Stemming joins the forms of a word and keeps apart what derivation makes of it. A long common beginning is a
cheap sign that two terms belong together (Xu & Croft 1998).
"""

from __future__ import annotations

from esr.boosts.boost import Added, Asked, Boost, Settings, register, weight

SHORTEST = 5
"""Letters that two variants share at least."""
ENDING = 2
"""Letters at the end of either that the other may lack."""
MOST = 10
"""Variants of a term, the first in alphabetical order."""
_LOOKED_AT = 100


def of(term: str, asked: Asked) -> list[str]:
    """The variants of a term that the collection has, in alphabetical order. Numbers have none."""
    shared = max(SHORTEST, len(term) - ENDING)
    if not term.isalpha() or len(term) < shared:
        return []
    found = asked.index.terms_with_prefix(term[:shared], _LOOKED_AT)
    return [other for other in found if _alike(term, other) and other not in asked.counts][:MOST]


def _alike(term: str, other: str) -> bool:
    return other.isalpha() and term.startswith(other[:-ENDING])


def add(settings: Settings, asked: Asked) -> Added:
    """Each variant as often as its term stands in the query; a variant of two terms counts for both."""
    terms: dict[str, float] = {}
    for term, count in asked.counts.items():
        for variant in of(term, asked):
            terms[variant] = terms.get(variant, 0.0) + count
    return Added(terms)


register(
    Boost(
        "variants",
        "terms of the collection that begin as a query's term does, but for up to "
        f"{ENDING} letters at the end, count at w of its weight; a sentence without them loses nothing",
        "after Xu & Croft 1998",
        add,
        (weight(0.2, (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)),),
    )
)
