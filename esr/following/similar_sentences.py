"""Sentences that are similar to a sentence."""

from __future__ import annotations

import math
from collections import Counter

from msgspec.structs import replace

from esr.errors import UsageError
from esr.index.filters import NO_FILTERS, Filters
from esr.index.questions import Records
from esr.query.interpretation import Interpretation
from esr.query.parser import literal
from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

TERMS = 8
"""Number of the sentence's terms to search for: those with the greatest c(t,s) log(N / sf(t))."""


def prepare_similar(
    searcher: Searcher, sentence_id: str, ranking: Ranking | None = None
) -> tuple[PreparedQuery, str]:
    """Prepare the query for sentences similar to one. Returns it with the id of the sentence's document.

    Raises UsageError for an unknown sentence, or one without words.
    """
    snapshot = searcher.snapshot()
    (record,) = snapshot.index.read([sentence_id], Records())
    snapshot = snapshot.for_document(record.language)
    counts = Counter(snapshot.index.analyzer.terms(record.text))
    statistics = snapshot.index.statistics(list(counts))
    total = statistics.collection.sentences

    def weight(term: str) -> float:
        return counts[term] * math.log(total / max(statistics.terms[term].sf, 1))

    best = sorted(counts, key=lambda term: (-weight(term), term))[:TERMS]
    if not best:
        raise UsageError(f"sentence {sentence_id!r} has no words to compare it by")
    chosen = {term: count for term, count in counts.items() if term in best}
    interpretation = Interpretation(literal(record.text), chosen, tuple(chosen), None, (), False)
    return snapshot.prepare_interpretation(interpretation, ranking or Ranking()), record.document_id


def find_similar(
    searcher: Searcher,
    sentence_id: str,
    k: int = 10,
    *,
    ranking: Ranking | None = None,
    filters: Filters = NO_FILTERS,
    own_document: bool = False,
) -> Answer:
    """Return the k sentences most similar to a sentence, without itself.

    Sentences of its document are left out unless `own_document`. `total` counts all candidates.
    """
    prepared, document_id = prepare_similar(searcher, sentence_id, ranking)
    return search_similar(prepared, sentence_id, None if own_document else document_id, k, filters)


def search_similar(
    prepared: PreparedQuery, sentence_id: str, left_out: str | None, k: int, filters: Filters = NO_FILTERS
) -> Answer:
    """Return the best k sentences, without this sentence and the document `left_out`."""
    fetched = k + 8 if left_out is not None else k + 1
    while True:
        answer = prepared.search(fetched, filters)
        hits = [
            hit
            for hit in answer.hits
            if hit.sentence_id != sentence_id
            and hit.record is not None
            and hit.record.document_id != left_out
        ]
        if len(hits) >= k or len(answer.hits) < fetched:
            return replace(answer, hits=hits[:k])
        fetched *= 4
