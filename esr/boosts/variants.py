"""variants: a query's term brings terms of the collection that begin alike, as `migrant` for `migration`.

Stemming joins the forms of a word. It keeps apart what derivation makes of it, and names and numbers of an
age: a long common beginning is a cheap sign that they belong together (Xu & Croft 1998).
"""

from __future__ import annotations

from esr.boosts.boost import Added, Asked, Boost, Settings, register, weight

SHORTEST = 4
"""Letters that two variants share at least."""
ENDING = 2
"""Letters at a term's end that a variant may have otherwise."""
LONGER = 3
"""Letters that a variant may be longer or shorter by."""
MOST = 10
"""Variants of a term, the first in alphabetical order."""
_LOOKED_AT = 100


def of(term: str, asked: Asked) -> list[str]:
    """The variants of a term that the collection has, in alphabetical order. Numbers have none."""
    if not term.isalpha() or len(term) < SHORTEST:
        return []
    prefix = term[: max(SHORTEST, len(term) - ENDING)]
    found = asked.index.terms_with_prefix(prefix, _LOOKED_AT)
    alike = (other for other in found if other.isalpha() and abs(len(other) - len(term)) <= LONGER)
    return [other for other in alike if other not in asked.counts][:MOST]


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
        f"terms that begin as a query's term does, but for its last {ENDING} letters, are added to the query "
        "at w of its weight",
        "after Xu & Croft 1998",
        add,
        (weight(0.2, (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)),),
    )
)
