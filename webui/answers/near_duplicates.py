"""Near-repeats of one wire story, folded: agencies' sentences come again in one paper after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from esr.analysis import Analyzer
from esr.engines.index import Hit
from esr.ranking.answers import record

SIMILAR = 0.9
"""Jaccard index of two sentences' sets of terms from which on they count as one."""


@dataclass
class Folded:
    """A hit and the lower ranked ones that say nearly the same."""

    hit: Hit
    similar: list[Hit] = field(default_factory=list)


def fold(hits: Sequence[Hit], analyzer: Analyzer) -> list[Folded]:
    """Each hit goes to the best one before it that leads a group and is similar, else leads one itself.

    So the leaders among the first n hits stay what they are when more hits follow.
    """
    leaders: list[Folded] = []
    holding: dict[str, list[int]] = {}
    sets: list[frozenset[str]] = []
    for hit in hits:
        terms = frozenset(analyzer.terms(record(hit).text))
        found = _first_similar(terms, holding, sets)
        if found is None:
            for term in terms:
                holding.setdefault(term, []).append(len(leaders))
            leaders.append(Folded(hit))
            sets.append(terms)
        else:
            leaders[found].similar.append(hit)
    return leaders


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared terms over all terms; two sets without a term are not alike."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def _first_similar(
    terms: frozenset[str], holding: dict[str, list[int]], sets: Sequence[frozenset[str]]
) -> int | None:
    places: Iterable[int] = sorted({place for term in terms for place in holding.get(term, ())})
    return next((place for place in places if jaccard(terms, sets[place]) >= SIMILAR), None)
