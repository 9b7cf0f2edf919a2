"""Search in an index: the Python API, and what the command line and the page stand on."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from esr import boosts
from esr.adjustments.adjustment import BUILTIN_FEATURES
from esr.engines.index import NO_FILTERS, Filters, Hit, Index
from esr.errors import UsageError, unknown
from esr.plans.plan import Plan, Static
from esr.plans.statistics import Statistics
from esr.ranking.origin import Origin
from esr.ranking.ranking import Ranking
from esr.ranking.rerank import reranked
from esr.ranking.view import View, view

MAX_TERMS = 1000
"""Distinct terms that a query may have. More is a mistake, and would only be slow."""


class NothingToSearchFor(UsageError):
    """A query that cannot be searched for, whatever the ranking: empty, stop words only, or too long."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Ranked sentences and how they came about.

    `total` counts the candidates; `unseen` are words of the query that no document holds; `incomplete`
    says what is missing from the answer, or is None. `scored` is how many candidates were scored, where the
    engine tells; `exhaustive` says why it had to score all, or is None.
    """

    hits: Sequence[Hit]
    total: int
    took_ms: float
    unseen: tuple[str, ...] = ()
    incomplete: str | None = None
    scored: int | None = None
    exhaustive: str | None = None


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A query planned for one ranking and one state of an index: prepared once, searched and explained often.

    `counts` has c(t,q) of the query's own terms, in order; `added` what each boost adds at weight 1; `unseen`
    the words of the query that no document holds.
    """

    index: Index
    ranking: Ranking
    counts: Mapping[str, int]
    statistics: Statistics
    added: Mapping[str, boosts.Expansion]
    plan: Plan
    unseen: tuple[str, ...]
    took_ms: float

    def search(self, k: int = 10, filters: Filters = NO_FILTERS, *, records: bool = True) -> Answer:
        """The best k sentences. `took_ms` of the answer includes the time of preparing."""
        if k < 1:
            raise UsageError(f"k is a positive number, not {k}")
        started = time.perf_counter() - self.took_ms / 1000.0
        if not self.plan.terms and self.plan.candidates != "all":
            return Answer([], 0, _since(started), self.unseen)
        second = self.ranking.second()
        if second is None:
            found = self.index.search(self.plan, k, filters, records=records)
            return Answer(found.hits, found.total, _since(started), self.unseen, *found.diagnostics)
        found = self.index.search(self.plan, max(k, second.depth), filters, records=False)
        best = found.hits[: second.depth]
        ids, ordinals = [hit.sentence_id for hit in best], [hit.ordinal for hit in best]
        hits = reranked(found.hits, self.view(ids, second.columns, ordinals), second)[:k]
        if records:
            sentences = self.index.sentences([hit.sentence_id for hit in hits])
            hits = [hit._replace(record=record) for hit, record in zip(hits, sentences, strict=True)]
        return Answer(hits, found.total, _since(started), self.unseen, *found.diagnostics)

    def view(self, ids: Sequence[str], columns: Iterable[str], ordinals: Sequence[int] | None = None) -> View:
        """What a second stage sees of these sentences. `ordinals` are their places, where they are hits."""
        return view(self.index, self.counts, self.statistics, ids, columns, ordinals)

    def statics(self) -> Iterator[tuple[Origin, Static]]:
        """The statics of the plan, each with its origin."""
        return self.ranking.statics(self.statistics.collection, self.added)

    def replan(self, ranking: Ranking) -> Plan:
        """The plan under another ranking with the same boosts. It asks the index for nothing."""
        return ranking.plan(self.counts, self.statistics, self.added)


_DEFAULT = Ranking()


class Searcher:
    """Ranks the sentences of one index. Use it as a context manager, or close it."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def __enter__(self) -> Searcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.index.close()

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        ranking: Ranking | None = None,
        filters: Filters | None = None,
        records: bool = True,
        **settings: Any,
    ) -> Answer:
        """The best k sentences for a query.

        `settings` are the keys of a ranking (`model`, `context`, `params`, `priors`, `candidates`,
        `features`, `boosts`, `rerank`, `trees`, `depth`) where no `ranking` is given. Raises UsageError
        for an empty query or a bad setting.
        """
        if ranking is not None and settings:
            raise UsageError("give a ranking or its settings, not both")
        ranking = ranking or (Ranking.from_dict(settings) if settings else _DEFAULT)
        return self.prepare(query, ranking).search(k, filters or NO_FILTERS, records=records)

    def snapshot(self) -> Searcher:
        """A searcher of the index as it is now: for several steps that must see the same."""
        return Searcher(self.index.snapshot())

    def prepare(self, query: str, ranking: Ranking) -> PreparedQuery:
        """Analyse a query and plan it on the index as it is now.

        Raises UsageError if nothing is left to search for, or the index lacks a feature of the ranking.
        """
        started = time.perf_counter()
        return self.snapshot()._prepare(query, ranking, started)

    def _prepare(self, query: str, ranking: Ranking, started: float) -> PreparedQuery:
        self.check_features(ranking.feature_names())
        counts = self.terms(query)
        added = self._added(query, counts, ranking) if ranking.boosts else {}
        terms = dict.fromkeys([*counts, *(term for each in added.values() for term in each.terms)])
        statistics = self.index.statistics(list(terms))
        unseen = {term for term in counts if not statistics.terms[term].seen}
        words = self._words(query, unseen) if unseen else ()
        plan = ranking.plan(counts, statistics, added)
        return PreparedQuery(
            self.index, ranking, counts, statistics, added, plan, words, took_ms=_since(started)
        )

    def _added(
        self, query: str, counts: Mapping[str, int], ranking: Ranking
    ) -> Mapping[str, boosts.Expansion]:
        """What each boost of a ranking adds to a query."""

        def first(n: int) -> Sequence[Hit]:
            plan = ranking.plan(counts, self.index.statistics(list(counts)))
            return self.index.search(plan, n, NO_FILTERS).hits if plan.terms else ()

        asked = boosts.BoostQuery(query, counts, self.index, first)
        return {
            name: (boost := boosts.get(name)).expand(boost.settings(values), asked)
            for name, values in ranking.boosts.items()
        }

    def check_features(self, features: Iterable[str]) -> None:
        """Raises UsageError for a feature that no sentence of the index has, with the nearest name."""
        wanted = [feature for feature in features if feature not in BUILTIN_FEATURES]
        known = self.index.features() if wanted else ()
        for feature in wanted:
            if feature not in known:
                raise unknown(f"feature of {self.index.where}", feature, [*BUILTIN_FEATURES, *known])

    def _words(self, query: str, terms: set[str]) -> tuple[str, ...]:
        """The words of a query, as they were typed, that become one of these terms."""
        words = dict.fromkeys(re.findall(r"\w+", query))
        return tuple(word for word in words if terms.intersection(self.index.analyzer.terms(word)))

    def terms(self, query: str) -> Mapping[str, int]:
        """The query's terms and how often each occurs, in their first order."""
        counts = Counter(self.index.analyzer.terms(query))
        if not counts:
            what = "is empty"
            if query.strip():
                what = "has only stop words" if re.search(r"\w", query) else "has no word in it"
            raise NothingToSearchFor(f"the query {what}: give at least one word to search for")
        if len(counts) > MAX_TERMS:
            raise NothingToSearchFor(
                f"the query has {len(counts)} distinct terms: at most {MAX_TERMS} are allowed"
            )
        return counts


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000.0
