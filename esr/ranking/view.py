"""What a second stage sees: some sentences, for one query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from esr.dependency.parsed_sentences import ParsedSentences
from esr.engines.index import Index
from esr.plans import evaluate
from esr.plans.evidence import Array, Evidence
from esr.plans.plan import Plan
from esr.plans.statistics import Statistics


@dataclass(frozen=True)
class View:
    """n sentences for a query. What no signal asks for is never fetched; what one asked for is kept.

    `counts` has the query's terms in order and how often each occurs in it; `terms` those that the evidence
    has, row by row: all that the collection knows, and perhaps others.
    """

    counts: Mapping[str, int]
    statistics: Statistics
    terms: Sequence[str]
    evidence: Callable[[], Evidence]
    parsed: Callable[[], ParsedSentences]

    def scores(self, plan: Plan) -> Array:
        """What a plan for this query gives the sentences, of shape (n,)."""
        found = self.evidence()
        wanted = [term.term for term in plan.terms]
        if wanted != list(self.terms):
            rows = [self.terms.index(term) for term in wanted]
            counts = {name: each[rows] for name, each in found.counts.items()}
            found = Evidence(counts, found.lengths, found.columns)
        return evaluate.scores(plan, found)

    def column(self, name: str) -> Array:
        """A stored number of each sentence, of shape (n,): NaN where it is not known."""
        found = np.asarray(self.evidence().columns[name], float)
        return np.where(np.isfinite(found), found, np.nan)


def view(
    index: Index,
    counts: Mapping[str, int],
    statistics: Statistics,
    ids: Sequence[str],
    columns: Iterable[str],
    ordinals: Sequence[int] | None = None,
) -> View:
    """These sentences of an index. `columns` names what is looked at beside what evidence always has.

    `ordinals` are the places that hits of this index gave.
    """
    terms = [term for term in counts if statistics.terms[term].seen]
    return View(
        counts,
        statistics,
        terms,
        cache(lambda: index.evidence(terms, ids, columns, ordinals)),
        cache(lambda: parsed(index, counts, ids, ordinals)),
    )


def parsed(
    index: Index, terms: Iterable[str], ids: Sequence[str], ordinals: Sequence[int] | None = None
) -> ParsedSentences:
    """The stored parses of these sentences, made ready for a query's terms."""
    distinct = tuple(dict.fromkeys(terms))

    def counts(places: Sequence[int]) -> Array:
        own = None if ordinals is None else [ordinals[place] for place in places]
        return index.evidence(distinct, [ids[place] for place in places], ordinals=own).counts["sentence"]

    return ParsedSentences.from_blobs(index.parses(ids, ordinals), distinct, counts)
