"""The sentences that are similar to one, for the page and the API."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from esr.following.similar_sentences import prepare_similar, search_similar
from esr.index.contract import Index
from esr.index.hits import SentenceRecord
from esr.index.questions import MainEncoder, Records
from esr.ranking.prepared_query import Answer
from esr.ranking.searcher import Searcher
from webui.arguments.request import (
    SearchRequest,
    SimilarRequest,
)
from webui.running.problems import blame_argument, look_up


@dataclass(frozen=True)
class SimilarSentences:
    """Sentences similar to `record`.

    `terms`: the terms of the sentence that were searched for. `has_own`: whether sentences of the same
    document are included. `has_vectors`: whether the index has vectors.
    """

    record: SentenceRecord
    search: SearchRequest
    index: Index
    answer: Answer
    terms: Collection[str]
    has_own: bool
    has_vectors: bool


def find_similar(searcher: Searcher, request: SimilarRequest) -> SimilarSentences:
    """The sentences similar to one. Raises RequestError for a bad argument, UnknownId for an unknown id."""
    search, sentence_id = request.search, request.sentence_id
    snapshot = searcher.snapshot()
    with look_up("sentence", sentence_id):
        (record,) = snapshot.index.read([sentence_id], Records())
    with blame_argument(None):
        prepared, document_id = prepare_similar(snapshot, sentence_id, search.ranking)
        left_out = None if request.own_document else document_id
        has_vectors = snapshot.index.status(MainEncoder()) is not None
        answer = search_similar(prepared, sentence_id, left_out, search.k, search.filters)
    return SimilarSentences(
        record, search, prepared.index, answer, prepared.counts, request.own_document, has_vectors
    )
