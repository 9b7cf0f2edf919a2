"""Repeats: hits that say what an earlier hit says, grouped with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from esr.following.overlap import (
    FEW_TERMS,
    FEW_TERMS_IN_LISTS,
    Terms,
    check_threshold,
    find_overlaps,
    group_repeats,
)
from esr.index.contract import Index
from esr.index.hits import Hit
from esr.index.questions import TermHolders
from esr.models.tfidf_models import rarity
from esr.ranking.answers import (
    require_record,
)


def group_hits(
    hits: Sequence[Hit], index: Index, threshold: float, terms: Sequence[Terms] | None = None
) -> list[list[Hit]]:
    """Group the hits: each one that says something new with the later ones that repeat its group.

    `terms` are those of the hits, if known. Appending hits does not change the first sentences of groups.
    Raises UsageError for a bad threshold.
    """
    check_threshold(threshold)
    terms = analyze_hits(hits, index) if terms is None else terms
    return group_by_terms(hits, terms, index, threshold, FEW_TERMS_IN_LISTS)


def analyze_hits(hits: Sequence[Hit], index: Index) -> list[Terms]:
    """The distinct terms of each hit, which needs its record."""
    return [frozenset(index.analyzer.terms(require_record(hit).text)) for hit in hits]


def group_by_terms(
    hits: Sequence[Hit],
    terms: Sequence[Terms],
    index: Index,
    threshold: float,
    few_terms: int = FEW_TERMS,
) -> list[list[Hit]]:
    overlaps = find_overlaps(terms, lambda needed: weigh_by_rarity(index, needed), few_terms)
    groups = group_repeats(overlaps, threshold)
    return [[hits[place] for place in group] for group in groups]


def weigh_by_rarity(index: Index, terms: Collection[str]) -> Mapping[str, float]:
    """log( (N + 1) / (0.5 + sf(t)) ) of each term (docs/formulas.md, G.1)."""
    size = index.statistics(()).collection.sentences
    holders = index.vocabulary(TermHolders(list(terms)))
    return {term: rarity(size, min(count, size)) for term, count in holders.items()}
