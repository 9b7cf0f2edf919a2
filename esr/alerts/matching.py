"""Matches new documents against many searches, with the result of running each search.

Each condition of a search is looked up once in a small index of the new documents (`delivered.py`), and the
searches combine these answers. Most words of most searches are in no new document, so most searches end at
their first word. Scores need the statistics of the collection, which are read for all searches at once, and
meaning is one product of matrices.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from esr.alerts.alert_conditions import Conditions
from esr.alerts.delivered import ALL, EVERYTHING, IN_COLLECTION, Delivered, Mask, open_delivered
from esr.errors import EsrError
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS, Filters
from esr.index.questions import ByDay, DayCounts, Fact, Hits, Lookup, MainEncoder
from esr.index.view import View
from esr.plans.evaluate import Evidence, score_sentences
from esr.plans.plan import (
    Condition,
    HasEntity,
    HasLanguage,
    Statistics,
    TermStatistics,
    all_of,
    any_of,
    leaves,
)
from esr.ranking.prepared_query import PreparedQuery, score_given
from esr.ranking.ranking import lower_furniture
from esr.ranking.searcher import Searcher
from esr.ranking.second_stage.query_encoder import encode_query
from esr.stdlib import batched
from esr.text.document import Document
from esr.text.sentence_enrichment import QuantizedVector

_SCORED_TOGETHER = 64
"""Number of searches whose sentences are scored from one reading of the collection."""
_MULTIPLIED_TOGETHER = 256
"""Number of sentences of examples whose products are computed at once."""


class Match(NamedTuple):
    """A sentence that satisfies the conditions of a search.

    `score` is that of the ranking, 0 without a `least_score`; `similarity` that to the nearest example, None
    without any.
    """

    sentence_id: str
    score: float = 0.0
    similarity: float | None = None


class Matches(NamedTuple):
    """The matches of each search, in the order of the documents; and by number, why a search failed."""

    by_search: list[list[Match]]
    failures: dict[int, str]


class KnownAnswers:
    """An index that remembers what many searches look up, and statistics that are read beforehand."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._answers: dict[Any, Any] = {}
        self._terms: dict[tuple[str | None, str], TermStatistics] = {}
        self._collections: dict[str | None, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def snapshot(self) -> KnownAnswers:
        return self

    def vocabulary(self, lookup: Lookup[Any]) -> Any:
        return self._remember(self._index.vocabulary, lookup)

    def status(self, fact: Fact[Any]) -> Any:
        return self._remember(self._index.status, fact)

    def _remember(self, ask: Any, question: Any) -> Any:
        key = repr(question)
        if key not in self._answers:
            self._answers[key] = ask(question)
        return self._answers[key]

    def statistics(self, terms: Sequence[str], language: str | None = None) -> Statistics:
        unknown = [term for term in dict.fromkeys(terms) if (language, term) not in self._terms]
        if unknown or language not in self._collections:
            read = self._index.statistics(unknown, language)
            self._collections[language] = read.collection
            self._terms |= {(language, term): read.terms[term] for term in unknown}
        known = {term: self._terms[language, term] for term in terms}
        return Statistics(self._collections[language], known)


class _Read(NamedTuple):
    """A search as the collection reads it: what sentences satisfy, and what plans its scores."""

    conditions: Conditions
    condition: Condition | None
    searcher: Searcher | None = None
    interpretation: Any = None


def find_matches(index: Index, documents: Sequence[Document], searches: Sequence[Conditions]) -> Matches:
    """Find the sentences of these documents of a snapshot that satisfy each search.

    A search that cannot be run is a failure, and the others are run.
    """
    matches: list[list[Match]] = [[] for _ in searches]
    failures: dict[int, str] = {}
    sentences = sum(len(document.sentences) for document in documents)
    if not searches or not sentences:
        return Matches(matches, failures)
    known = cast("Index", KnownAnswers(index))
    reader = Searcher(known, owns_index=False)
    reads: dict[int, _Read] = {}
    for number, search in enumerate(searches):
        try:
            reads[number] = _read(reader, search)
        except EsrError as error:
            failures[number] = str(error)
    with open_delivered(known, documents) as delivered:
        masks: dict[int, Mask] = {}
        delivered.read_names(leaf for read in reads.values() for leaf in _leaves(read))
        for number, read in reads.items():
            try:
                mask = delivered.select(read.condition, read.conditions.filters)
            except EsrError as error:
                failures[number] = str(error)
                continue
            if mask.any():
                masks[number] = mask
        scores = _score(delivered, reads, masks, failures)
        similarities = _compare(known, delivered, reads, masks, failures)
        for number, mask in masks.items():
            if number not in failures:
                of_search = scores.get(number), similarities.get(number)
                matches[number] = list(_matches(delivered, np.flatnonzero(mask), *of_search))
    return Matches(matches, failures)


def _leaves(read: _Read) -> Iterator[Condition]:
    if read.condition is not None:
        yield from leaves(read.condition)
    if entities := read.conditions.filters.entities:
        yield HasEntity(entities)


Numbers = npt.NDArray[np.float64]


def _matches(
    delivered: Delivered, rows: npt.NDArray[np.intp], scores: Numbers | None, similarities: Numbers | None
) -> Iterable[Match]:
    for row in rows.tolist():
        score = 0.0 if scores is None else float(scores[row])
        similarity = None if similarities is None else float(similarities[row])
        yield Match(delivered.ids[row], score, similarity)


def _read(reader: Searcher, search: Conditions) -> _Read:
    """Interpret the query of a search. Raises UsageError for one that cannot be searched."""
    of_language = _in_languages(search.languages)
    if search.query is None:
        return _Read(search, of_language)
    searcher = reader.for_query(search.query, literal=search.is_literal)
    interpretation = searcher.interpret(search.query, literal=search.is_literal)
    needs_all = search.least_score is None or search.requires_all
    condition = interpretation.all_words if needs_all else interpretation.matching
    if isinstance(searcher.index, View):
        condition = searcher.index.in_language(condition)
    condition = all_of([part for part in (condition, of_language) if part is not None])
    return _Read(search, condition, searcher, interpretation)


def _in_languages(codes: Sequence[str]) -> Condition | None:
    """The condition of a sentence in one of these languages; None for any."""
    return (
        any_of([HasLanguage(code.lower().replace("_", "-")) for code in codes])
        if codes and "all" not in codes
        else None
    )


def _prepare(searcher: Searcher, search: Conditions, interpretation: Any) -> PreparedQuery:
    ranking = search.ranking if search.with_furniture else lower_furniture(search.ranking, searcher.index)
    return searcher.prepare_interpretation(interpretation, ranking)


def _score(
    delivered: Delivered,
    reads: Mapping[int, _Read],
    masks: dict[int, Mask],
    failures: dict[int, str],
) -> dict[int, Numbers]:
    """Score the sentences of searches with a least score, and take those below it from their masks."""
    all_scores: dict[int, Numbers] = {}
    wanted = [number for number in masks if reads[number].conditions.least_score is not None]
    _read_statistics([reads[number] for number in wanted])
    for numbers in batched(wanted, _SCORED_TOGETHER):
        prepared = {}
        for number in numbers:
            read = reads[number]
            assert read.searcher is not None
            try:
                prepared[number] = _prepare(read.searcher, read.conditions, read.interpretation)
            except EsrError as error:
                failures[number] = str(error)
        if not prepared:
            continue
        rows = np.flatnonzero(np.any([masks[number] for number in prepared], axis=0))
        plans = [prepared[number].plan for number in prepared]
        terms = list(dict.fromkeys(term.term for plan in plans for term in plan.terms))
        columns = {static_score.column for plan in plans for static_score in plan.static_scores}
        evidence = delivered.read_evidence(rows, terms, columns)
        for number in prepared:
            least, selected = reads[number].conditions.least_score, np.flatnonzero(masks[number])
            assert least is not None
            plan = prepared[number].plan
            places = [terms.index(term.term) for term in plan.terms]
            scores = np.full(len(delivered.ids), -np.inf)
            scores[selected] = score_sentences(plan, _part(evidence, places, np.searchsorted(rows, selected)))
            all_scores[number] = scores
            masks[number] = masks[number] & (scores >= least)
    return all_scores


def _read_statistics(reads: Sequence[_Read]) -> None:
    """Let the index read the statistics of all terms at once, by language, which it then remembers."""
    terms: dict[Any, dict[str, None]] = defaultdict(dict)
    indexes: dict[Any, Index] = {}
    for read in reads:
        assert read.searcher is not None
        index = read.searcher.index
        language = index.language if isinstance(index, View) else None
        indexes[language] = index
        terms[language].update(dict.fromkeys(read.interpretation.counts))
    for language, index in indexes.items():
        index.statistics(list(terms[language]))


def _part(evidence: Evidence, terms: Sequence[int], sentences: npt.NDArray[np.intp]) -> Evidence:
    """The evidence for some of the terms and some of the sentences."""
    part = evidence.take(sentences)
    counts = {field: rows[list(terms)] for field, rows in part.counts.items()}
    return Evidence(counts, part.lengths, part.columns)


def _compare(
    index: Index,
    delivered: Delivered,
    reads: Mapping[int, _Read],
    masks: dict[int, Mask],
    failures: dict[int, str],
) -> dict[int, Numbers]:
    """The similarities of searches by meaning, whose masks lose the sentences below their least one."""
    wanted = [number for number in masks if reads[number].conditions.like]
    encoder: str | None = None
    examples: list[tuple[int, QuantizedVector]] = []
    for number in wanted:
        try:
            vectors = encode_examples(index, reads[number].conditions.like)
        except EsrError as error:
            failures[number] = str(error)
            continue
        encoder = index.status(MainEncoder())
        examples += ((number, vector) for vector in vectors)
    best = {number: np.full(len(delivered.ids), -np.inf) for number, _ in examples}
    for batch in batched(examples, _MULTIPLIED_TOGETHER):
        assert encoder is not None
        products = delivered.similarities(encoder, [vector for _, vector in batch])
        for (number, _), row in zip(batch, products, strict=True):
            np.maximum(best[number], row, out=best[number])
    for number, similarities in best.items():
        masks[number] = masks[number] & (similarities >= reads[number].conditions.similarity)
    return best


_vectors: dict[tuple[str, str, str], QuantizedVector] = {}
"""Vectors of examples, by the place of the index, its encoder, and the text."""


def encode_examples(index: Index, texts: Sequence[str]) -> list[QuantizedVector]:
    """The vectors of examples by the encoder of the index. Raises as `encode_query`."""
    encoder = index.status(MainEncoder()) or ""
    for text in texts:
        if (index.where, encoder, text) not in _vectors:
            _vectors[index.where, encoder, text] = encode_query(index, text).vector
    return [_vectors[index.where, encoder, text] for text in texts]


def run_search(index: Index, search: Conditions, filters: Filters | None = None) -> list[Match]:
    """Run a search on a whole snapshot: what `find_matches` finds in some documents, and for previews.

    `filters` replace those of the search. Raises UsageError for a search that cannot be run.
    """

    filters = search.filters if filters is None else filters
    read = _read(Searcher(index, owns_index=False), search)
    condition = read.condition or EVERYTHING
    ids = [hit.sentence_id for hit in index.select(condition, ALL, filters, Hits(records=False)).hits]
    scores = np.zeros(len(ids))
    if search.least_score is not None and ids:
        assert read.searcher is not None
        scores, _ = score_given(_prepare(read.searcher, search, read.interpretation), ids)
        selected = np.flatnonzero(scores >= search.least_score).tolist()
        ids, scores = [ids[n] for n in selected], scores[selected]
    if not search.like:
        return [Match(id, float(score)) for id, score in zip(ids, scores, strict=True)]
    encoder = index.status(MainEncoder())
    assert encoder is not None or not encode_examples(index, search.like)
    nearest: dict[str, float] = {}
    for vector in encode_examples(index, search.like):
        assert encoder is not None
        for hit in index.nearest(encoder, vector, 100_000, read.condition, filters):
            nearest[hit.sentence_id] = max(nearest.get(hit.sentence_id, -np.inf), hit.score)
    near = {id: value for id, value in nearest.items() if value >= search.similarity}
    return [Match(id, float(score), near[id]) for id, score in zip(ids, scores, strict=True) if id in near]


def needs_enrichment(index: Index, search: Conditions) -> bool:
    """Whether a search asks for names, quotations or vectors, which documents may get after their arrival."""
    if search.like or search.filters.entities or search.filters.independent:
        return True
    try:
        condition = _read(Searcher(index, owns_index=False), search).condition
    except EsrError:
        return False
    return condition is not None and any(isinstance(leaf, IN_COLLECTION) for leaf in leaves(condition))


def count_days(index: Index, search: Conditions) -> tuple[DayCounts, DayCounts]:
    """The number of sentences of a search by day, and that of all sentences."""
    condition = _read(Searcher(index, owns_index=False), search).condition
    counts = index.count([condition], search.filters, ByDay())[0]
    return counts, index.count([None], NO_FILTERS, ByDay())[0]
