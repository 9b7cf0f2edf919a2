"""Training data: for each topic the best sentences of a first stage, with all their signals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from esr.errors import UsageError
from esr.evaluation.qrels import Qrels
from esr.evaluation.tuning.tuner import Task
from esr.plans.evidence import Array
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal
from esr.ranking.searcher import Searcher, UnsearchableQuery

DEPTH = 100
"""Sentences of a topic that are learned from and reranked."""
RUN_DEPTH = 1000
"""The depth of the runs that are measured. Sentences below `DEPTH` keep their order."""


@dataclass(frozen=True)
class TopicSignals:
    """A topic's n candidates, best first: first-stage scores (n,), signals (n, S), grades (n,).

    A missing signal value is NaN. `ids` and `first_scores` continue below the candidates to the depth of a
    run. `judgements` has the topic's grades above 0 by sentence. `first_run` has the scores of the first
    stage's own run, which lacks what only vectors found.
    """

    topic: str
    query: str
    ids: tuple[str, ...]
    first_scores: Array
    values: Array
    grades: npt.NDArray[np.int64]
    judgements: dict[str, int]
    first_run: dict[str, float]


def collect_signals(
    searcher: Searcher,
    tasks: Iterable[Task],
    qrels: Qrels,
    base: Ranking,
    signals: Sequence[RankingSignal],
    depth: int = DEPTH,
    tick: Callable[[int], None] = lambda n: None,
) -> list[TopicSignals]:
    """All topics' candidates, in the order of topics; a topic without search terms has none.

    Raises UsageError for a base with its own second stage, because learning creates that stage.
    """
    if base.reranker() is not None:
        raise UsageError(
            "learning creates the second stage: use a ranking without one, such as 2si without --rerank"
        )
    topics = []
    with_all = Ranking.from_dict({**base.as_dict(), "rerank": signals})
    for task in tasks:
        topics.append(_collect_topic(searcher.snapshot(), task, qrels, with_all, depth))
        tick(1)
    return topics


def _collect_topic(
    searcher: Searcher, task: Task, qrels: Qrels, with_all: Ranking, depth: int
) -> TopicSignals:
    signals, reranker = with_all.rerank, with_all.reranker()
    judgements = {sentence: grade for sentence, grade in qrels.get(task.topic, {}).items() if grade > 0}
    try:
        prepared = searcher.prepare(task.query, with_all, literal=True)
    except UnsearchableQuery:
        prepared = None
    ids: tuple[str, ...] = ()
    first_scores, values = np.zeros(0), np.zeros((0, len(signals)))
    first_run: dict[str, float] = {}
    if prepared is not None and reranker is not None and (prepared.plan.terms or reranker.uses_vectors):
        result = prepared.search_first_stage(max(RUN_DEPTH, depth), task.filters)
        first_run = {hit.sentence_id: hit.score for hit in result.hits}
        candidates = prepared.add_candidates(result, replace(reranker, depth=depth), task.filters)
        ids, first_scores = tuple(candidates.hits.ids), candidates.hits.scores
        context = prepared.rerank_context(candidates.top.ids, reranker.columns)
        values = np.column_stack([signal.values(context) for signal in signals])
    grades = np.array([judgements.get(id, 0) for id in ids[: len(values)]], np.int64)
    return TopicSignals(task.topic, task.query, ids, first_scores, values, grades, judgements, first_run)
