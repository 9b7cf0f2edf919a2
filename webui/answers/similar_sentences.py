"""Sentences like one, for a request."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from esr.engines.index import SentenceRecord
from esr.errors import UsageError
from esr.following.similar import prepare_similar, search_similar
from esr.ranking.prepared_query import Answer
from esr.ranking.searcher import Searcher
from webui.arguments.query_string import Arguments
from webui.arguments.search_request import SearchRequest, parse_search
from webui.running.request_errors import RequestError, UnknownId, blame_argument
from webui.running.settings import Settings


@dataclass(frozen=True)
class SimilarSentences:
    """`terms` are those of the sentence that were searched for. `has_vectors` is of the index."""

    record: SentenceRecord
    search: SearchRequest
    answer: Answer
    terms: Collection[str]
    has_own: bool
    has_vectors: bool


def find_for_request(searcher: Searcher, arguments: Arguments, settings: Settings) -> SimilarSentences:
    """Raises RequestError for a bad argument, UnknownId for an unknown sentence."""
    search = parse_search(arguments, settings)
    if "id" not in arguments:
        raise RequestError("the address has no id: add the id of a sentence", "id")
    sentence_id = arguments["id"][0]
    own = arguments.get("own", ["no"])[0]
    if own not in ("yes", "no"):
        raise RequestError(f"argument 'own' must be yes or no, not {own!r}", "own")
    snapshot = searcher.snapshot()
    try:
        (record,) = snapshot.index.sentences([sentence_id])
    except UsageError as error:
        raise UnknownId(f"there is no sentence {sentence_id!r}", "id") from error
    with blame_argument(None):
        prepared, document_id = prepare_similar(snapshot, sentence_id, search.ranking)
        left_out = None if own == "yes" else document_id
        has_vectors = snapshot.index.encoder() is not None
        answer = search_similar(prepared, sentence_id, left_out, search.k, search.filters)
    return SimilarSentences(record, search, answer, prepared.counts, own == "yes", has_vectors)
