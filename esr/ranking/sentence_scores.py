"""Scores of given sentences for a query, wherever they are in the ranking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from esr.plans.evaluate import score_sentences
from esr.plans.evidence import Array
from esr.ranking.prepared_query import PreparedQuery


def score_given(
    prepared: PreparedQuery, ids: Sequence[str], ordinals: Sequence[int] | None = None
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """(n,) twice: the scores, and whether a sentence has a query term itself. `ordinals`: those of hits.

    A second stage scores them too; what depends on other sentences is left out of it: learned trees, and what
    only breaks ties.
    """
    plan = prepared.plan
    columns = [static.column for static in plan.statics]
    evidence = prepared.index.evidence([term.term for term in plan.terms], ids, columns, ordinals)
    is_hit = np.asarray(evidence.counts["sentence"].sum(axis=0) > 0)
    first = score_sentences(plan, evidence)
    reranker = prepared.ranking.reranker()
    if reranker is None:
        return first, is_hit
    alone = replace(reranker, breaks_ties=False, trees=None)
    with np.errstate(invalid="ignore"):  # an infinite score times a weight of 0 is no score
        context = prepared.rerank_context(ids, alone.columns, ordinals)
        return alone.scores(first, context, np.arange(len(ids))), is_hit


def known_scores(
    prepared: PreparedQuery, ids: Sequence[str], ordinals: Sequence[int] | None = None
) -> list[float]:
    """The scores of given sentences, 0 for one that the ranking has no score for."""
    if not ids or not prepared.plan.terms:
        return [0.0] * len(ids)
    scores, _ = score_given(prepared, ids, ordinals)
    finite: list[float] = np.nan_to_num(scores, posinf=0.0, neginf=0.0).tolist()
    return finite
