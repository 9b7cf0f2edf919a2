"""Search in an index: the Python API, on which the command line and the page are built."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from esr import boosts
from esr.adjustments.adjustment import BUILTIN_FEATURES
from esr.analysis.spans import words_of_terms
from esr.engines.index import NO_FILTERS, Filters, Hit, Index, SearchResult
from esr.engines.lazy_hits import LazyHits
from esr.engines.unknown_filters import UnknownFilter, find_unknown_filters
from esr.errors import UsageError, unknown
from esr.plans.condition import Condition, HasAttribute, HasEntity, HasSource, leaves
from esr.plans.plan import CandidateRule, Plan, Static
from esr.plans.statistics import Statistics
from esr.queries.interpretation import Interpretation, interpret
from esr.queries.query import ParsedQuery
from esr.ranking.nearest import find_nearest
from esr.ranking.origin import Origin
from esr.ranking.ranking import NO_EXPANSIONS, Ranking
from esr.ranking.rerank_context import RerankContext, build_context
from esr.ranking.reranker import rerank

PREFIX_TERMS, PREFIX_CANDIDATES = 3, 20
"""The terms that prefixes add to the ranking, and how many with each prefix they are chosen from."""
MAX_TERMS = 1000
"""Distinct terms that a query may have. More would be a mistake, and slow."""


class UnsearchableQuery(UsageError):
    """A query that no ranking can search for: empty, only stop words, or too long."""


class Answer(Struct, frozen=True):
    """Ranked sentences, and how the search went.

    `total` counts the candidates; `unseen` are words of the query that no document contains; `incomplete`
    says what is missing from the answer, or is None. `scored` is the number of candidates that were scored,
    if the engine reports it; `exhaustive` says why it had to score all, or is None. `unknown_filters` are the
    values of filters that the index does not have. `without_vector` counts the reranked sentences that lack
    one and are ranked by their words; it is None where the ranking uses no vectors.
    """

    hits: Sequence[Hit]
    total: int
    took_ms: float
    unseen: tuple[str, ...] = ()
    incomplete: str | None = None
    scored: int | None = None
    exhaustive: str | None = None
    unknown_filters: tuple[UnknownFilter, ...] = ()
    without_vector: int | None = None


class PreparedQuery(Struct, frozen=True):
    """A query planned for one ranking and one state of an index: prepared once, searched and explained often.

    `counts` has c(t,q) of the query's own terms, in order, with those that its prefixes add; `expansions`
    what each boost adds at weight 1; `unseen` the words of the query that no document contains.
    """

    index: Index
    ranking: Ranking
    interpretation: Interpretation
    counts: Mapping[str, int]
    statistics: Statistics
    expansions: Mapping[str, boosts.Expansion]
    plan: Plan
    unseen: tuple[str, ...]
    took_ms: float

    def search(self, k: int = 10, filters: Filters = NO_FILTERS, *, records: bool = True) -> Answer:
        """The best k sentences. `took_ms` of the answer includes the time of preparing."""
        if k < 1:
            raise UsageError(f"k must be a positive number, not {k}")
        started = time.perf_counter() - self.took_ms / 1000.0
        answer, condition = self._search(k, filters, records, started), self.interpretation.condition
        if condition is None and not filters:
            return answer
        unknown = find_unknown_filters(self.index, _with_fields(filters, condition))
        return replace(answer, unknown_filters=unknown) if unknown else answer

    def _search(self, k: int, filters: Filters, records: bool, started: float) -> Answer:
        reranker = self.ranking.reranker()
        uses_vectors = reranker is not None and reranker.uses_vectors
        has_candidates = bool(self.plan.terms) or self.plan.candidates == "all"
        if not has_candidates and not uses_vectors:
            return Answer([], 0, _since(started), self.unseen)
        if reranker is None:
            result = self.index.search(self.plan, k, filters, records=records)
            return Answer(result.hits, result.total, _since(started), self.unseen, *result.diagnostics)
        result = SearchResult([], 0)
        if has_candidates:
            result = self.index.search(self.plan, max(k, reranker.depth), filters, records=False)
        hits, wanted = result.hits, min(k, reranker.depth)
        if uses_vectors and len(hits) < wanted:
            text = self.interpretation.ranked_text
            hits = [*hits, *find_nearest(self.index, self.plan, text, hits, wanted, filters)]
        total = result.total + len(hits) - len(result.hits)
        first = LazyHits.of(hits)
        best = first.head(reranker.depth)
        context = self.rerank_context(best.ids, reranker.columns, best.ordinals.tolist())
        hits = rerank(first, context, reranker, k)
        if records:
            sentences = self.index.sentences([hit.sentence_id for hit in hits])
            hits = [hit._replace(record=record) for hit, record in zip(hits, sentences, strict=True)]
        without_vector = reranker.count_missing(context)
        answer = Answer(hits, total, _since(started), self.unseen, *result.diagnostics)
        return replace(answer, without_vector=without_vector)

    def rerank_context(
        self, ids: Sequence[str], columns: Iterable[str], ordinals: Sequence[int] | None = None
    ) -> RerankContext:
        """The context in which a second stage reranks these sentences. `ordinals` are those of their hits."""
        text = self.interpretation.ranked_text
        return build_context(self.index, self.counts, self.statistics, ids, columns, ordinals, text)

    def statics(self) -> Iterator[tuple[Origin, Static]]:
        """The statics of the plan, each with its origin."""
        return self.ranking.statics(self.statistics.collection, self.expansions)

    @property
    def all_words(self) -> Condition:
        """What a sentence with every wanted word satisfies."""
        condition = self.interpretation.all_words
        assert condition is not None  # a prepared query asks for something
        return condition

    @property
    def matching_plan(self) -> Plan:
        """The plan with those candidates that hold a word of the query themselves, for counts.

        Where the query itself decides on candidates, all of them match.
        """
        if self.interpretation.decides_candidates or not self.plan.terms:
            return self.plan
        return replace(self.plan, candidates="matching")

    def with_all_words(self) -> PreparedQuery:
        """The same query with those candidates that have every wanted word. Does not use the index."""
        if not self.plan.terms and self.plan.candidates != "all":
            return self
        plan = replace(self.plan, condition=self.interpretation.all_words, candidates="all")
        return replace(self, plan=plan)

    def replan(self, ranking: Ranking) -> Plan:
        """The plan of another ranking with the same boosts. Does not use the index."""
        return _with_condition(
            ranking.plan(self.counts, self.statistics, self.expansions), self.interpretation
        )


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
        query: str | ParsedQuery,
        k: int = 10,
        *,
        ranking: Ranking | None = None,
        filters: Filters | None = None,
        records: bool = True,
        require_all: bool = False,
        **settings: Any,
    ) -> Answer:
        """The best k sentences for a query: its words, or what `esr.parse_query` reads in it.

        `require_all`: a sentence needs every word. `settings` are the keys of a ranking (`model`,
        `context`, `params`, `priors`, `candidates`, `features`, `boosts`, `rerank`, `trees`, `depth`) where
        no `ranking` is given. Raises UsageError for an empty query or a bad setting.
        """
        if ranking is not None and settings:
            raise UsageError("give a ranking or its settings, not both")
        ranking = ranking or (Ranking.from_dict(settings) if settings else _DEFAULT)
        started = time.perf_counter()

        def search(index: Index) -> Answer:
            prepared = Searcher(index)._prepare(query, ranking, require_all, started)
            return prepared.search(k, filters or NO_FILTERS, records=records)

        return self.index.on_latest(search)

    def snapshot(self) -> Searcher:
        """A searcher of the index as it is now, for several steps that must see the same state."""
        return Searcher(self.index.snapshot())

    def prepare(
        self, query: str | ParsedQuery, ranking: Ranking, *, require_all: bool = False
    ) -> PreparedQuery:
        """Analyse a query and plan it on the index as it is now. Of a string, all is words.

        Raises UsageError if the query has no terms, or the index lacks a feature of the ranking.
        """
        started = time.perf_counter()
        return self.snapshot()._prepare(query, ranking, require_all, started)

    def _prepare(
        self, query: str | ParsedQuery, ranking: Ranking, require_all: bool, started: float
    ) -> PreparedQuery:
        interpretation = self.interpret(query, require_all=require_all)
        return self.prepare_interpretation(interpretation, ranking, started)

    def prepare_interpretation(
        self, interpretation: Interpretation, ranking: Ranking, started: float | None = None
    ) -> PreparedQuery:
        """Plan what a query asks, on this state of the index. `started` is when its preparation began."""
        started = time.perf_counter() if started is None else started
        self.check_features(ranking.feature_names())
        counts = interpretation.counts
        if interpretation.prefixes:
            added_terms = self._prefix_terms(interpretation)
            counts = {**counts, **{term: 1 for term in added_terms if term not in counts}}
        terms, expansions = [*counts], NO_EXPANSIONS
        if ranking.boosts:
            expansions = self._expand(interpretation.ranked_text, counts, ranking)
            added = (term for expansion in expansions.values() for term in expansion.terms)
            terms = [*dict.fromkeys([*counts, *added])]
        statistics = self.index.statistics(terms)
        unseen = {term for term in counts if not statistics.terms[term].is_seen}
        words = words_of_terms(self.index.analyzer, interpretation.ranked_text, unseen) if unseen else ()
        plan = _with_condition(ranking.plan(counts, statistics, expansions), interpretation)
        return PreparedQuery(
            self.index,
            ranking,
            interpretation,
            counts,
            statistics,
            expansions,
            plan,
            words,
            took_ms=_since(started),
        )

    def _expand(
        self, query: str, counts: Mapping[str, int], ranking: Ranking
    ) -> Mapping[str, boosts.Expansion]:
        """The expansion of a query by each boost of a ranking."""

        def top_hits(n: int) -> Sequence[Hit]:
            plan = ranking.plan(counts, self.index.statistics(list(counts)))
            return self.index.search(plan, n, NO_FILTERS).hits if plan.terms else ()

        boost_query = boosts.BoostQuery(query, counts, self.index, top_hits)
        return {
            name: (boost := boosts.get(name)).expand(boost.settings(values), boost_query)
            for name, values in ranking.boosts.items()
        }

    def check_features(self, features: Iterable[str]) -> None:
        """Raise UsageError for a feature that no sentence of the index has, with the nearest name."""
        needed = [feature for feature in features if feature not in BUILTIN_FEATURES]
        stored = self.index.features() if needed else ()
        for feature in needed:
            if feature not in stored:
                raise unknown(f"feature of {self.index.where}", feature, [*BUILTIN_FEATURES, *stored])

    def _prefix_terms(self, interpretation: Interpretation) -> list[str]:
        """The terms that the prefixes of a query add to those that are ranked: the most frequent first."""
        index = self.index
        terms: set[str] = set()
        for prefix in interpretation.prefixes:
            terms.update(index.analyzer.terms(prefix), index.terms_with_prefix(prefix, PREFIX_CANDIDATES))
        found = {
            term: of_term for term, of_term in index.statistics(sorted(terms)).terms.items() if of_term.sf
        }
        return sorted(found, key=lambda term: (-found[term].sf, term))[:PREFIX_TERMS]

    def terms(self, query: str | ParsedQuery) -> Mapping[str, int]:
        """The query's terms in order, and how often each occurs. Raises UsageError if it asks for nothing."""
        return self.interpret(query).counts

    def interpret(self, query: str | ParsedQuery, *, require_all: bool = False) -> Interpretation:
        """What a query asks of the index. Raises UsageError if that is nothing, or too much."""
        interpretation = interpret(query, self.index.analyzer, require_all)
        counts = interpretation.counts
        if not counts and not interpretation.decides_candidates:
            raise UnsearchableQuery(_explain_empty(interpretation.parsed))
        if len(counts) > MAX_TERMS:
            raise UnsearchableQuery(
                f"the query has {len(counts)} distinct terms: at most {MAX_TERMS} are allowed"
            )
        return interpretation


def _with_fields(filters: Filters, condition: Condition | None) -> Filters:
    """The filters with the sources, attributes and names of a condition."""
    if condition is None:
        return filters
    named = list(leaves(condition))
    sources = (form for leaf in named if isinstance(leaf, HasSource) for form in leaf.forms)
    entities = (key for leaf in named if isinstance(leaf, HasEntity) for key in leaf.keys)
    return replace(
        filters,
        sources=(*filters.sources, *sources),
        entities=(*filters.entities, *entities),
        attributes=(*filters.attributes, *(leaf for leaf in named if isinstance(leaf, HasAttribute))),
    )


def _with_condition(plan: Plan, interpretation: Interpretation) -> Plan:
    if interpretation.condition is None and not interpretation.decides_candidates:
        return plan
    candidates: CandidateRule = "all" if interpretation.decides_candidates else plan.candidates
    return replace(plan, condition=interpretation.condition, candidates=candidates)


def _explain_empty(parsed: ParsedQuery) -> str:
    problem = "is empty"
    if any(group.role == "excluded" for group in parsed.groups):
        problem = "only excludes"
    elif parsed.text.strip():
        problem = "has only stop words" if re.search(r"\w", parsed.text) else "has no words"
    return f"the query {problem}: give at least one word to search for"


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000.0
