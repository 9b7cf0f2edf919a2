"""A ranking as a request body, for other applications to send to Elasticsearch."""

from __future__ import annotations

from typing import Any

from esr.engines.index import Filters
from esr.engines.similarities import SimilarityRescoring, mean_known
from esr.errors import UsageError
from esr.ranking import meaning
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.query_vector import encode_query
from esr.ranking.ranking import Ranking


def raw_request(
    prepared: PreparedQuery, k: int, *, filters: Filters, standalone: bool = False
) -> dict[str, Any]:
    """The body of a `_search` on the alias. Raises UsageError for a ranking that has none.

    `standalone` leaves p(t|C) to Elasticsearch; it is for language models only.
    """
    ranking = prepared.ranking
    if standalone and ranking.settings().values.get("background") == "documents":
        raise UsageError("--standalone takes p(t|C) from occurrences: leave out background=documents")
    if standalone and ranking.boosts:
        raise UsageError(
            "--standalone serves any query, and a boost expands the words of one: leave out "
            + ", ".join(f"--boost {name}" for name in ranking.boosts)
        )
    rescoring = build_rescoring(prepared, k, filters) if can_rescore(ranking) else None
    return prepared.index.request(prepared.plan, k, filters, standalone=standalone, rescoring=rescoring)


def can_rescore(ranking: Ranking) -> bool:
    """Whether its second stage can be part of a request: the similarity of the sentence alone."""
    reranker = ranking.reranker()
    if reranker is None or reranker.trees or reranker.first_weight != 1.0 or len(reranker.signals) != 1:
        return False
    (signal,) = reranker.signals
    settings = signal.settings()
    return signal.signal == meaning.NAME and not settings["nu"] and not settings["lambda"]


def build_rescoring(prepared: PreparedQuery, k: int, filters: Filters) -> SimilarityRescoring:
    """The second stage as data for a request, with what sentences without a vector get now."""
    index, ranking = prepared.index, prepared.ranking
    hits = index.search(prepared.plan, ranking.depth, filters, records=False).hits
    encoder, vector = encode_query(index, prepared.interpretation.ranked_text)
    ids, ordinals = [hit.sentence_id for hit in hits], [hit.ordinal for hit in hits]
    similarities = index.similarities(encoder, vector, ids, ordinals).sentence
    weight, window = ranking.rerank[0].weight, max(k, ranking.depth)
    return SimilarityRescoring(encoder, vector, weight, window, mean_known(similarities))
