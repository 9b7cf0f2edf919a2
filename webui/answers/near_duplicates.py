"""Near-duplicates, folded: one paper after another prints the same sentence of a news agency."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from esr.analysis import Analyzer
from esr.engines.index import Hit
from esr.ranking.answers import require_record

MIN_SIMILARITY = 0.9
"""The Jaccard index of two sentences' sets of terms from which they count as near-duplicates."""


@dataclass
class FoldedHit:
    """A hit and its near-duplicates of lower rank."""

    hit: Hit
    similar: list[Hit] = field(default_factory=list)


def fold_near_duplicates(hits: Sequence[Hit], analyzer: Analyzer) -> list[FoldedHit]:
    """Each hit joins the best leader before it that it resembles, or becomes a leader itself.

    So the leaders among the first n hits stay the same when more hits follow.
    """
    leaders: list[FoldedHit] = []
    leaders_with: dict[str, list[int]] = {}
    term_sets: list[frozenset[str]] = []
    for hit in hits:
        terms = frozenset(analyzer.terms(require_record(hit).text))
        leader = _first_similar(terms, leaders_with, term_sets)
        if leader is None:
            for term in terms:
                leaders_with.setdefault(term, []).append(len(leaders))
            leaders.append(FoldedHit(hit))
            term_sets.append(terms)
        else:
            leaders[leader].similar.append(hit)
    return leaders


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Shared terms over all terms; two sets without a term are not alike."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


def _first_similar(
    terms: frozenset[str], leaders_with: dict[str, list[int]], term_sets: Sequence[frozenset[str]]
) -> int | None:
    leaders: Iterable[int] = sorted({n for term in terms for n in leaders_with.get(term, ())})
    return next((n for n in leaders if jaccard(terms, term_sets[n]) >= MIN_SIMILARITY), None)
