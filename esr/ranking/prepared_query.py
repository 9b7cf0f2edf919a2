"""Prepared queries, planned once for a ranking and a snapshot of an index, then searched and scored.

With a second stage that uses vectors, the candidates are the best sentences by words and the nearest by
vector, and each is scored by both stages. A sentence that answers a query in other words may contain none of
its words, or rank far below sentences with more of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from esr.arguments.filters import read_filters
from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS, Filters, UnknownFilter, find_unknown_filters
from esr.index.hits import Hit, LazyHits, SearchResult
from esr.index.questions import EvidenceOf, Records
from esr.index.view import chosen_language, languages_of, start_beside
from esr.plans.evaluate import Array, Evidence, apply_static_score, score_sentences
from esr.plans.plan import (
    FEATURE_PREFIX,
    Condition,
    HasAttribute,
    HasEntity,
    HasSource,
    Plan,
    StaticScore,
    Statistics,
    leaves,
)
from esr.query.interpretation import Interpretation
from esr.ranking import boosts
from esr.ranking.ranking import DefaultRanking, Origin, Ranking
from esr.ranking.second_stage.rerank_context import QueryVectors, RerankContext, build_context
from esr.ranking.second_stage.reranker import Candidates, Reranker, rerank, rerank_last
from esr.stdlib import cached_property, import_lazily

if TYPE_CHECKING:
    from esr.ranking import across
else:
    across = import_lazily("esr.ranking.across")

_GROWTH, _MOST = 2, 2000
"""Growth factor of the number of sentences read if the best k do not suffice, and its maximum."""


def search_best(index: Index, plan: Plan, k: int, filters: Filters) -> SearchResult:
    """The best k sentences of a plan with their records, equal to the result of `Index.search`.

    Without a feature that only lowers scores, scores are upper bounds. So the best sentences without it are
    read until no other sentence can be among the best with it. This takes hardly longer than without the
    feature, and can use Elasticsearch's precomputed bounds, which exist only for plans without features.
    """
    if not plan.terms or not plan.static_scores or not all(map(_only_lowers, plan.static_scores)):
        return index.search(plan, k, filters)
    unlowered, n = replace(plan, static_scores=()), k
    names = [static_score.column.removeprefix(FEATURE_PREFIX) for static_score in plan.static_scores]
    while n <= max(_MOST, k):
        result = index.search(unlowered, n, filters)
        hits = result.hits
        features = [hit.record.features if hit.record else {} for hit in hits]
        if not any(name in known for known in features for name in names):
            return replace(result, hits=hits[:k])
        scores, ordinals = np.array([h.score for h in hits]), np.array([h.ordinal for h in hits])
        last = -scores[-1], ordinals[-1]
        for static_score, name in zip(plan.static_scores, names, strict=True):
            scores = scores + apply_static_score(
                static_score, np.array([known.get(name, np.nan) for known in features])
            )
        best = np.lexsort((ordinals, -scores))[:k]
        if len(hits) < n or (-scores[best[-1]], ordinals[best[-1]]) <= last:
            lowered = [hits[place]._replace(score=float(scores[place])) for place in best.tolist()]
            return replace(result, hits=lowered)
        n *= _GROWTH
    return index.search(plan, k, filters)


def _only_lowers(static_score: StaticScore) -> bool:
    """Whether the static score is of a feature and never raises a score."""
    is_feature = static_score.column.startswith(FEATURE_PREFIX) and not static_score.required
    return (
        is_feature
        and static_score.form in ("step", "satu", "sigm")
        and max(static_score.weight, static_score.constant) <= 0
    )


def find_nearest(
    index: Index, plan: Plan, query: QueryVectors, reranker: Reranker, filters: Filters
) -> Sequence[Hit]:
    """The `depth` sentences nearest to a query with text, by their vectors.

    They satisfy the plan's condition and the filters, but need none of its terms.
    """
    if not query.has_text:
        return ()
    encoder, vector = query.vector(reranker.vector_weights)
    return index.nearest(encoder, vector, reranker.depth, plan.condition, filters)


def add_nearest(
    index: Index,
    plan: Plan,
    result: SearchResult,
    depth: int,
    nearest_hits: Sequence[Hit],
    start_reading: Callable[[LazyHits], None],
) -> Candidates:
    """Add the nearest sentences to the `depth` best hits of the plan; the other hits stay below.

    Sentences without a term, or without a score by the plan, are left out. `start_reading` starts to read
    what is asked of both later, before these are known.
    """
    hits = LazyHits.of(result.hits)
    best = hits.head(depth)
    if not nearest_hits:
        return Candidates(hits, len(best), len(best), result.total)
    nearest = LazyHits.of(nearest_hits)
    new = nearest.at(np.flatnonzero(~np.isin(nearest.ordinals, best.ordinals)))
    start_reading(LazyHits.join([best, new]))
    columns = [static_score.column for static_score in plan.static_scores]
    evidence = index.read(
        new.ids, EvidenceOf([term.term for term in plan.terms], columns), new.ordinals.tolist()
    )
    scores = score_nearest(plan, evidence)
    if plan.needs_term:
        scores = np.where(evidence.lengths["sentence"] > 0, scores, np.nan)
    is_new = np.isfinite(scores) & ~is_candidate(plan, evidence)
    scored = np.flatnonzero(np.isfinite(scores))
    new = new.at(scored, scores[scored])
    below = np.flatnonzero(~np.isin(hits.ordinals[len(best) :], new.ordinals)) + len(best)
    total = result.total + int(np.count_nonzero(is_new))
    return Candidates(LazyHits.join([best, new, hits.at(below)]), len(best), len(best) + len(new), total)


def score_nearest(plan: Plan, evidence: Evidence) -> Array:
    """The first-stage scores of sentences that vectors found, of shape (n,): 0 for a plan without terms."""
    if not plan.terms and plan.candidates != "all":
        return np.zeros(len(evidence.lengths["sentence"]))
    return score_sentences(plan, evidence)


def is_candidate(plan: Plan, evidence: Evidence) -> npt.NDArray[np.bool_]:
    """Which sentences are candidates by the plan's rule, of shape (n,). They must satisfy its condition."""
    lengths = evidence.lengths["sentence"]
    has_term = lengths > 0 if plan.needs_term else np.ones(len(lengths), bool)
    if plan.candidates == "all":
        return has_term
    terms = set(plan.candidate_terms)
    rows = [row for row, term in enumerate(plan.terms) if term.term in terms]
    counts = evidence.counts["sentence" if plan.candidates == "matching" else plan.context]
    return np.asarray(has_term & (counts[rows].sum(axis=0) > 0))


class Answer(Struct, frozen=True):
    """Ranked sentences, and diagnostics of the search.

    - `total` counts the candidates.
    - `unseen` are words of the query that no document contains.
    - `incomplete` says what the answer is missing, or is None.
    - `scored` is the number of candidates scored, if the engine reports it.
    - `exhaustive` says why all candidates had to be scored, or is None.
    - `unknown_filters` are the values of filters that the index does not have.
    - `without_vector` counts the reranked sentences without a vector, which are ranked by their words; None
      if the ranking uses no vectors.
    - `without_parse` counts the reranked sentences without a parse, which get nothing from signals of term
      dependence; None if there are no such signals.
    - `by_default` is the name of the ranking, words or hybrid, if the search named none. `no_meaning` says
      why it is words although the index has vectors, or is None.
    - `unread` counts the sentences that a cross-encoder was to read and had no time for, which keep their
      order below those it has read; None if the ranking has no cross-encoder.
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
    without_parse: int | None = None
    unread: int | None = None
    by_default: str | None = None
    no_meaning: str | None = None


_WORDS = Ranking()


def _best_by_words(index: Index, counts: Mapping[str, int], statistics: Statistics, k: int) -> SearchResult:
    """The best k sentences of the whole index by the default ranking, without filters and conditions."""
    plan = _WORDS.plan(counts, statistics)
    return index.search(plan, k, NO_FILTERS, records=False) if plan.terms else SearchResult([], 0)


class PreparedQuery(Struct, frozen=True, dict=True):
    """A query planned once for one ranking and one snapshot of an index, to search and explain often.

    `counts` has c(t,q) of the query's terms in order, including those its prefixes add; `expansions` has what
    each boost adds at weight 1; `unseen` are the words of the query that no document contains; `incomplete`
    says what the first search of a boost was missing, or is None. `requested` is the ranking without the
    defaults that depend on the query.
    """

    index: Index
    ranking: Ranking
    requested: Ranking
    interpretation: Interpretation
    counts: Mapping[str, int]
    statistics: Statistics
    expansions: Mapping[str, boosts.Expansion]
    plan: Plan
    unseen: tuple[str, ...]
    took_ms: float
    incomplete: str | None = None

    def search(
        self, k: int = 10, filters: Filters | Mapping[str, Any] | None = None, *, records: bool = True
    ) -> Answer:
        """Return the best k sentences. The answer's `took_ms` includes the time of preparing."""
        k, filters = check_k(k), read_filters(filters)
        started = time.perf_counter() - self.took_ms / 1000.0
        if languages := self.interpretation.languages:
            answer = self._search_across(languages, k, filters, records, started)
        else:
            answer = self._search(k, filters, records, started)
        condition = self.interpretation.condition
        if isinstance(self.ranking, DefaultRanking) and self.ranking.name:
            answer = replace(answer, by_default=self.ranking.name, no_meaning=self.ranking.note)
        if self.incomplete:
            answer = replace(answer, incomplete=answer.incomplete or self.incomplete)
        if condition is None and not filters:
            return answer
        unknown = find_unknown_filters(self.index, _with_fields(filters, condition))
        return replace(answer, unknown_filters=unknown) if unknown else answer

    def _search_across(
        self, languages: Sequence[str], k: int, filters: Filters, records: bool, started: float
    ) -> Answer:
        """The best k sentences in some languages: the query's, and others by their vectors."""
        index, text, condition = self.index, self.interpretation.ranked_text, self.plan.condition
        groups, code = across.find_groups(index, languages), chosen_language(index).code
        is_in_own = code is None or code in groups
        answer = self._search(k, filters, records, started) if is_in_own else Answer([], 0, 0.0)
        other_groups = [group for group in groups if group != code] if code is not None else []
        others = across.find_across(index, text, other_groups, condition, filters)
        if not others:
            return replace(answer, took_ms=elapsed_ms(started))
        hits = across.merge_languages(index, text, answer.hits, others, condition, filters)[:k]
        if records:
            hits = across.read_records(index, hits)
        return replace(answer, hits=hits, total=answer.total + len(others), took_ms=elapsed_ms(started))

    def _search(self, k: int, filters: Filters, records: bool, started: float) -> Answer:
        reranker = self.ranking.reranker()
        uses_vectors = reranker is not None and reranker.uses_vectors
        if not self.has_candidates and not uses_vectors:
            return Answer([], 0, elapsed_ms(started), self.unseen)
        if reranker is None:
            if records:
                result = search_best(self.index, self.plan, k, filters)
            else:
                result = self.index.search(self.plan, k, filters, records=False)
            return Answer(result.hits, result.total, elapsed_ms(started), self.unseen, *result.diagnostics)
        result, candidates = self.find_candidates(reranker, k, filters)
        top = candidates.top
        context = self.rerank_context(top.ids, reranker.columns, top.ordinals.tolist())
        hits, unread = rerank(candidates, context, reranker, max(k, reranker.last_depth)), None
        if reranker.last is not None:
            best = self.index.read([hit.sentence_id for hit in hits[: reranker.last_depth]], Records())
            texts = [sentence.text for sentence in best]
            hits, unread = rerank_last(hits, reranker.last, self.interpretation.ranked_text, texts)
            hits = hits[:k]
        if records:
            sentences = self.index.read([hit.sentence_id for hit in hits], Records())
            hits = [hit._replace(record=record) for hit, record in zip(hits, sentences, strict=True)]
        answer = Answer(hits, candidates.total, elapsed_ms(started), self.unseen, *result.diagnostics)
        return replace(
            answer,
            incomplete=answer.incomplete or self.vectors.incomplete,
            without_vector=reranker.count_without_vector(context),
            without_parse=reranker.count_without_parse(context),
            unread=unread,
        )

    @cached_property
    def vectors(self) -> QueryVectors:
        """The vectors of the query."""
        # Not a method of this query: a reference cycle would keep the index's files open.
        search = partial(_best_by_words, self.index, self.counts, self.statistics)
        return QueryVectors(self.index, self.interpretation.ranked_text, search)

    @property
    def has_candidates(self) -> bool:
        """Whether the first stage can have candidates."""
        return bool(self.plan.terms) or self.plan.candidates == "all"

    def search_first_stage(self, k: int, filters: Filters) -> SearchResult:
        """Return the best k sentences of the first stage, without records."""
        if not self.has_candidates:
            return SearchResult([], 0)
        return self.index.search(self.plan, k, filters, records=False)

    def find_candidates(
        self, reranker: Reranker, k: int, filters: Filters
    ) -> tuple[SearchResult, Candidates]:
        """The best sentences of the first stage, k or `depth` if that is more; the candidates of the second.

        k changes only which candidates stay below. Words and vectors are searched at the same time.
        """
        index, plan = self.index, self.plan
        nearest: Callable[[], Sequence[Hit]] | None = None
        if reranker.uses_vectors:
            nearest = start_beside(index, partial(find_nearest, index, plan, self.vectors, reranker, filters))
        result = self.search_first_stage(max(k, reranker.depth), filters)
        if nearest is not None:
            weights, contexts = reranker.vector_weights, reranker.vector_contexts
            start = partial(self.vectors.start_similarities, weights, contexts)
            return result, add_nearest(index, plan, result, reranker.depth, nearest(), start)
        best = min(reranker.depth, len(result.hits))
        return result, Candidates(LazyHits.of(result.hits), best, best, result.total)

    def rerank_context(
        self, ids: Sequence[str], columns: Iterable[str], ordinals: Sequence[int] | None = None
    ) -> RerankContext:
        """The context in which the second stage reranks these sentences. `ordinals` are those of the hits."""
        query = self.vectors
        return build_context(self.index, self.counts, self.statistics, ids, columns, ordinals, query)

    def static_scores(self) -> Iterator[tuple[Origin, StaticScore]]:
        """The static scores of the plan, each with its origin."""
        return self.ranking.static_scores(self.statistics.collection, self.expansions)

    @property
    def all_words(self) -> Condition:
        """The condition that a sentence with every wanted word satisfies."""
        condition = self.interpretation.all_words
        assert condition is not None  # a prepared query is never empty
        return condition

    @property
    def matching(self) -> Condition | None:
        """The condition of a sentence that matches the query; None for a query of stop words alone.

        Filters, facets, charts and `MatchCounts` count these sentences, whatever the ranking.
        """
        return self.interpretation.matching

    def with_all_words(self) -> PreparedQuery:
        """The same query restricted to candidates with every wanted word. Does not use the index."""
        return self._restrict(self.interpretation.all_words)

    def with_matching(self) -> PreparedQuery:
        """The same query restricted to sentences that match it, if any can. Does not use the index."""
        return self if self.matching is None else self._restrict(self.matching)

    def _restrict(self, condition: Condition | None) -> PreparedQuery:
        if not self.has_candidates:
            return self
        needs_term = not self.interpretation.decides_candidates
        plan = replace(self.plan, condition=condition, candidates="all", needs_term=needs_term)
        return replace(self, plan=plan)

    def replan(self, ranking: Ranking) -> Plan:
        """The plan of another ranking with the same boosts. Does not use the index."""
        return plan_query(ranking, self.interpretation, self.counts, self.statistics, self.expansions)


def plan_query(
    ranking: Ranking,
    interpretation: Interpretation,
    counts: Mapping[str, int],
    statistics: Statistics,
    expansions: Mapping[str, boosts.Expansion],
) -> Plan:
    """Plan a query for a ranking, with the query's condition. If it decides, it alone does."""
    plan = ranking.plan(counts, statistics, expansions)
    condition = interpretation.condition
    if interpretation.decides_candidates:
        return replace(plan, condition=condition, candidates="all", needs_term=False)
    return plan if condition is None else replace(plan, condition=condition)


def check_k(k: SupportsIndex) -> int:
    """Check a number of sentences. Raises UsageError unless it is a whole number from 1."""
    return _check_whole("k", k, 1, "a positive number")


def check_offset(offset: SupportsIndex) -> int:
    """Check a number of hits to skip. Raises UsageError unless it is a whole number from 0."""
    return _check_whole("offset", offset, 0, "a whole number from 0")


def _check_whole(name: str, value: SupportsIndex, least: int, kind: str) -> int:
    number = None
    if not isinstance(value, bool):
        with suppress(TypeError):
            number = index(value)
    if number is None or number < least:
        raise UsageError(f"{name} must be {kind}, not {value!r}")
    return number


def elapsed_ms(started: float) -> float:
    """Milliseconds since `started`, a value of `time.perf_counter`."""
    return (time.perf_counter() - started) * 1000.0


def _with_fields(filters: Filters, condition: Condition | None) -> Filters:
    """Add the sources, attributes and names of a condition to the filters."""
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


def score_given(
    prepared: PreparedQuery, ids: Sequence[str], ordinals: Sequence[int] | None = None
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Score given sentences wherever they rank. Returns (n,) scores, and (n,) whether each has a query term.

    In an index by language, sentences in another language than the query have no score (NaN).
    `ordinals` are those of the sentences' hits. The second stage is included, except for the parts that
    depend on other sentences: learned trees, tie breaking and a cross-encoder.
    """
    plan = prepared.plan
    columns = [static_score.column for static_score in plan.static_scores]
    evidence = prepared.index.read(ids, EvidenceOf([term.term for term in plan.terms], columns), ordinals)
    is_hit = np.asarray(evidence.counts["sentence"].sum(axis=0) > 0)
    first = score_sentences(plan, evidence)
    language, _ = chosen_language(prepared.index)
    if language is not None:
        languages = languages_of(prepared.index, ids)
        first[[code != language for code in languages]] = np.nan
    reranker = prepared.ranking.reranker()
    if reranker is None:
        return first, is_hit
    alone = replace(reranker, breaks_ties=False, trees=None)
    with np.errstate(invalid="ignore"):  # an infinite score times a weight of 0 is NaN
        context = prepared.rerank_context(ids, alone.columns, ordinals)
        return alone.scores(first, context, np.arange(len(ids))), is_hit


def known_scores(
    prepared: PreparedQuery, ids: Sequence[str], ordinals: Sequence[int] | None = None
) -> list[float]:
    """The scores of given sentences, 0 for those without a score."""
    if not ids or not prepared.has_candidates:
        return [0.0] * len(ids)
    scores, _ = score_given(prepared, ids, ordinals)
    finite: list[float] = np.nan_to_num(scores, posinf=0.0, neginf=0.0).tolist()
    return finite
