"""What is learned from: for each topic the best sentences of a first stage, and all signals of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from esr.engines.index import Hit
from esr.errors import UsageError
from esr.evaluation.qrels import Qrels
from esr.evaluation.tuning.figures import Task
from esr.plans.evidence import Array
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal
from esr.ranking.searcher import Searcher, UnsearchableQuery

DEPTH = 100
"""Sentences of a topic that are learned from, and put in a new order."""
RUN = 1000
"""How deep figures look. What lies below `DEPTH` keeps its order."""


@dataclass(frozen=True)
class TopicSignals:
    """A topic's n candidates, best first: scores of the first stage (n,), signals (n, S), grades (n,).

    A signal that a sentence has no value for is NaN. `ids` and `first` go on below the candidates, to the
    depth of a run. `grades_of` has the topic's judgements above 0.
    """

    topic: str
    query: str
    ids: tuple[str, ...]
    first: Array
    values: Array
    grades: npt.NDArray[np.int64]
    grades_of: dict[str, int]


def gather(
    searcher: Searcher,
    tasks: Iterable[Task],
    qrels: Qrels,
    base: Ranking,
    signals: Sequence[RankingSignal],
    depth: int = DEPTH,
    tick: Callable[[int], None] = lambda n: None,
) -> list[TopicSignals]:
    """All topics' candidates, in the topics' order; none for a topic without a word to search for.

    Raises UsageError for a base that has a second stage of its own: what is learned takes that place.
    """
    if base.reranker() is not None:
        raise UsageError(
            "learning makes the second stage: give a ranking that has none, as 2si without --rerank"
        )
    found = []
    with_all = Ranking.from_dict({**base.as_dict(), "rerank": signals})
    for task in tasks:
        found.append(_topic(searcher.snapshot(), task, qrels, base, with_all, depth))
        tick(1)
    return found


def _topic(
    searcher: Searcher, task: Task, qrels: Qrels, base: Ranking, with_all: Ranking, depth: int
) -> TopicSignals:
    signals, reranker = with_all.rerank, with_all.reranker()
    grades_of = {sentence: grade for sentence, grade in qrels.get(task.topic, {}).items() if grade > 0}
    try:
        prepared = searcher.prepare(task.query, with_all)
    except UnsearchableQuery:
        prepared = None
    hits: Sequence[Hit] = ()
    if prepared is not None and prepared.plan.terms:
        hits = prepared.index.search(prepared.plan, max(RUN, depth), task.filters, records=False).hits
    ids = tuple(hit.sentence_id for hit in hits)
    first = np.array([hit.score for hit in hits])
    values = np.zeros((0, len(signals)))
    if prepared is not None and hits:
        assert reranker is not None
        context = prepared.rerank_context(ids[:depth], reranker.columns)
        values = np.column_stack([each.values(context) for each in signals])
    grades = np.array([grades_of.get(id, 0) for id in ids[:depth]], np.int64)
    return TopicSignals(task.topic, task.query, ids, first, values, grades, grades_of)
