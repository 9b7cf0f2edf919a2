"""A first stage by meaning, for where the words of a query find fewer sentences than are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from esr.engines.index import Filters, Hit, Index
from esr.plans.evaluate import score_sentences
from esr.plans.plan import Plan
from esr.ranking.query_vector import encode_query

_PER_HIT, _LEAST = 2, 100
"""How many sentences are looked for, for each that is asked for: words and meaning choose of these."""


def find_nearest(
    index: Index, plan: Plan, text: str, hits: Sequence[Hit], k: int, filters: Filters
) -> list[Hit]:
    """The sentences whose vectors are nearest to a query's, except `hits`, with their scores by the plan.

    They satisfy the plan's condition and the filters, but need no term of it. Best first by similarity.
    """
    encoder, vector = encode_query(index, text)
    nearest = index.nearest(encoder, vector, max(_LEAST, _PER_HIT * k), plan.condition, filters)
    known = {hit.sentence_id for hit in hits}
    new = [hit for hit in nearest if hit.sentence_id not in known]
    if not new or not plan.terms:
        return [hit._replace(score=0.0) for hit in new]
    columns = [static.column for static in plan.statics]
    ids, ordinals = [hit.sentence_id for hit in new], [hit.ordinal for hit in new]
    evidence = index.evidence([term.term for term in plan.terms], ids, columns, ordinals)
    scores = score_sentences(plan, evidence).tolist()
    return [hit._replace(score=score) for hit, score in zip(new, scores, strict=True)]
