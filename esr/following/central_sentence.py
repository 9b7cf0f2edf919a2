"""The central sentence of some hits: the one that the sentences of other documents agree with most.

It says what the hits are about, such as the event behind a peak of a timeline (docs/formulas.md, G.3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from math import sqrt

from esr.following.repeats import analyze_hits, weigh_by_rarity
from esr.index.contract import Index
from esr.index.hits import Hit
from esr.ranking.answers import require_record

MOST_WORDS = 50
"""Longer sentences, often lists or captions run together, are central only if there are no others."""


def find_central(hits: Sequence[Hit], index: Index, query_terms: Collection[str] = ()) -> Hit:
    """The central one of at least one hit, with records. Ties keep the order of the hits.

    `query_terms`: the terms of the query, which all hits have. They do not count.
    """
    terms = analyze_hits(hits, index)
    rarity = weigh_by_rarity(index, {term for hit_terms in terms for term in hit_terms})
    holders = defaultdict[str, set[str]](set)
    for hit, hit_terms in zip(hits, terms, strict=True):
        for term in hit_terms:
            holders[term].add(require_record(hit).document_id)
    documents = len({require_record(hit).document_id for hit in hits})
    weights = {
        term: rarity[term] ** 2 * (len(holders[term]) - 1) / documents
        for term in rarity
        if term not in query_terms
    }

    def agreement(place: int) -> float:
        ordered = sorted(terms[place])  # the same sum everywhere
        length = sqrt(sum(rarity[term] ** 2 for term in ordered))
        return sum(weights.get(term, 0.0) for term in ordered) / length if length else 0.0

    short = [n for n, hit in enumerate(hits) if len(require_record(hit).text.split()) <= MOST_WORDS]
    return hits[max(short or range(len(hits)), key=lambda place: (agreement(place), -place))]
