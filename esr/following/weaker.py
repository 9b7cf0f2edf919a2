"""Where a ranked list begins to have only weak hits.

A hit is weak if its sentence, its neighbours and its headline have less than STRONG_SHARE of the query's
words, by their rarity, and, in a ranking by vectors, if the sentence is also less similar to the query than
sentences of its subject are. With less than SOME_SHARE of at most FEW_WORDS, it must be more similar. The
weak part of a list begins with the first WEAK_RUN weak hits in a row.
docs/ranking.md, *Weak hits*, has the figures of the judged news.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from esr.following.repeats import weigh_by_rarity
from esr.index.hits import Hit
from esr.ranking.answers import require_record
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.second_stage.query_encoder import encoder_name
from esr.ranking.second_stage.rerank_context import VectorWeights

STRONG_SHARE, SOME_SHARE = 0.7, 0.4
FEW_WORDS = 5
STRONG_SIMILARITY: Mapping[str, tuple[float, float]] = {"bge-small-en-v1.5": (0.62, 0.7)}
"""By the name of an encoder, the cosine from which a sentence is no weak hit: with SOME_SHARE of the words or
for a longer query, and with less of FEW_WORDS."""
WEAK_RUN = 3


def find_weaker(prepared: PreparedQuery, hits: Sequence[Hit]) -> int | None:
    """The number of hits before the weak part of a list, best first; None if it has none.

    Hits need records. A list by the vectors of an encoder that is not in STRONG_SIMILARITY has no weak part.
    """
    statistics = prepared.statistics.terms
    terms = frozenset(term for term in prepared.interpretation.counts if statistics[term].is_seen)
    if len(terms) < 2:
        return None
    weights = weigh_by_rarity(prepared.index, terms)
    total = sum(weights.values())
    weighed = [_weigh(prepared, hit, weights) for hit in hits]
    weak = [weight < STRONG_SHARE * total for weight in weighed]
    reranker = prepared.ranking.reranker()
    if any(weak) and reranker is not None and reranker.uses_vectors:
        has_some = [len(terms) > FEW_WORDS or weight >= SOME_SHARE * total for weight in weighed]
        similar = _find_similar(prepared, hits, has_some)
        weak = [is_weak and not is_similar for is_weak, is_similar in zip(weak, similar, strict=True)]
    return next((n for n in range(len(weak) - WEAK_RUN + 1) if all(weak[n : n + WEAK_RUN])), None)


def _find_similar(prepared: PreparedQuery, hits: Sequence[Hit], has_some: Sequence[bool]) -> list[bool]:
    """Whether each sentence is similar to the query, or nothing is known of that.

    `has_some`: whether a sentence has SOME_SHARE of the words, or the query has more than FEW_WORDS.
    """
    least = STRONG_SIMILARITY.get(encoder_name(prepared.index))
    if least is None or not prepared.vectors.has_text:
        return [True] * len(hits)
    ids, ordinals = [hit.sentence_id for hit in hits], [hit.ordinal for hit in hits]
    similarities = prepared.vectors.similarities(VectorWeights(0.0, 0.0), ids, ordinals, ()).sentence
    with_some, without = least
    return [
        not similarity < (with_some if some else without)
        for similarity, some in zip(similarities.tolist(), has_some, strict=True)
    ]


def _weigh(prepared: PreparedQuery, hit: Hit, weights: Mapping[str, float]) -> float:
    """The weight of the terms in the sentence, its neighbours and its headline."""
    record, analyze = require_record(hit), prepared.index.analyzer.terms
    texts = (record.text, record.previous, record.next, record.title)
    present = {term for text in texts if text for term in analyze(text) if term in weights}
    return sum(weights[term] for term in present)
