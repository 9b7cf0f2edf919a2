"""Training data for learning to rank: the best sentences of each topic, with all their signals.

A first stage retrieves the sentences. Signals come from the registries with default parameters: models in
their contexts, priors, features, term dependence and meaning. `SignalTable` holds the candidates of all
topics as padded arrays, so that a ranking is measured on all topics by a few array operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclasses_replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from esr.lab.judgements import Qrels
from esr.lab.tuner import Task
from esr.plugin import UsageError
from esr.plugin.provisional import (
    BUILTIN_FEATURES,
    FEATURE,
    FEATURES,
    PRIOR,
    Adjustment,
    Array,
    Features,
    Ranking,
    RankingSignal,
    Searcher,
    UnsearchableQuery,
    signal_types,
    unknown,
)
from esr.plugin.provisional import EngineIndex as Index

FORMS = {"len": "log", "position": "log"}
"""Forms of features whose values vary too widely for a linear form, which all others have."""
GROUPS = ("models", "priors", "features", "term dependence", "meaning")


def list_signals(index: Index, base: Ranking) -> tuple[RankingSignal, ...]:
    """All signals with values in the index, except features and priors that the base already uses."""
    stored = {*BUILTIN_FEATURES, *index.status(Features())}
    features = [*(name for name in FEATURES if name in stored), *sorted(stored - {*FEATURES})]
    names = [
        *(kind.name for kind in signal_types().values() if kind.group != "time" and not kind.is_last),
        *(FEATURE + name for name in features),
    ]
    used = {FEATURE + feature.feature for feature in base.features} | {PRIOR + name for name in base.priors}
    signals = (RankingSignal(name) for name in names if name not in used)
    return tuple(signal for signal in signals if signal.type.has_values(index))


def select_signals(signals: Sequence[RankingSignal], texts: Sequence[str]) -> tuple[RankingSignal, ...]:
    """The signals with these names or in these groups; all signals without texts. Raises UsageError."""
    names = [signal.signal for signal in signals]
    selected: set[str] = set()
    for text in texts:
        matches = [signal.signal for signal in signals if text in (signal.signal, signal.type.group)]
        if not matches:
            raise unknown("signal of the index", text, [*GROUPS, *names])
        selected.update(matches)
    return tuple(signal for signal in signals if not texts or signal.signal in selected)


def to_adjustment(signal: RankingSignal, weight: float = 1.0) -> Adjustment:
    """The first-stage adjustment for a feature's signal."""
    feature = signal.signal.removeprefix(FEATURE)
    return Adjustment(feature, FORMS.get(feature, "linear"), {"w": weight})


def is_feature(signal: RankingSignal) -> bool:
    return signal.signal.startswith(FEATURE)


def is_prior(signal: RankingSignal) -> bool:
    return signal.signal.startswith(PRIOR)


SIGNAL_DEPTH = 100
"""The number of sentences of a topic to learn from and to rerank."""
RUN_DEPTH = 1000
"""The depth of the measured runs. Sentences below the reranked ones keep their order."""


@dataclass(frozen=True)
class TopicSignals:
    """A topic's n candidates, best first: first-stage scores (n,), signals (n, S), grades (n,).

    A missing signal value is NaN. `ids` and `first_scores` continue below the candidates, to the depth of a
    run. `judgements` has the topic's grades above 0 by sentence. `first_run` has the scores of the first
    stage's own run, without the sentences that only vectors found.
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
    depth: int = SIGNAL_DEPTH,
    tick: Callable[[int], None] = lambda n: None,
) -> list[TopicSignals]:
    """The candidates of all topics, in the order of topics. A topic without search terms has none.

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
    if prepared is not None and reranker is not None and (prepared.has_candidates or reranker.uses_vectors):
        of_depth = replace(reranker, depth=depth)
        result, candidates = prepared.find_candidates(of_depth, max(RUN_DEPTH, depth), task.filters)
        first_run = {hit.sentence_id: hit.score for hit in result.hits}
        ids, first_scores = tuple(candidates.hits.ids), candidates.hits.scores
        context = prepared.rerank_context(candidates.top.ids, reranker.columns)
        values = np.column_stack([signal.values(context) for signal in signals])
    grades = np.array([judgements.get(id, 0) for id in ids[: len(values)]], np.int64)
    return TopicSignals(task.topic, task.query, ids, first_scores, values, grades, judgements, first_run)


# Measures on arrays


Integers = npt.NDArray[np.int64]


class Measure(NamedTuple):
    """The sum of the relevant sentences' gains, divided by the best possible sum.

    `gain` takes arrays of one shape: ranks, the number of relevant sentences down to each rank, and grades.
    `best` takes all grades of a topic in descending order.
    """

    gain: Callable[[Integers, Integers, Integers], Array]
    best: Callable[[Integers], float]


class SignalTable:
    """T topics with up to D candidates and S signals each. Shorter topics are padded.

    `first_scores` has the shape (T, D), with -inf as padding; `values` has the shape (T, D, S).
    """

    def __init__(self, topics: Sequence[TopicSignals], measure: str) -> None:
        self.topics: tuple[TopicSignals, ...] = tuple(topics)
        self._measure = measure
        self._gain, best = parse_measure(measure)
        depth = max((len(topic.grades) for topic in topics), default=0)
        size = topics[0].values.shape[1] if topics else 0
        self.first_scores: npt.NDArray[np.float64] = np.full((len(topics), depth), -np.inf)
        self.values: npt.NDArray[np.float64] = np.full((len(topics), depth, size), np.nan)
        self.grades: Integers = np.zeros((len(topics), depth), np.int64)
        for row, topic in enumerate(topics):
            n = len(topic.grades)
            self.first_scores[row, :n] = topic.first_scores[:n]
            self.values[row, :n] = topic.values
            self.grades[row, :n] = topic.grades
        self._relevant = self.grades > 0
        self._rows, self._columns = np.nonzero(self._relevant)
        self._relevant_grades = self.grades[self._rows, self._columns]
        self._gain_below = np.array([self._compute_gain_below(topic) for topic in topics])
        judged = [np.array(sorted(topic.judgements.values(), reverse=True), np.int64) for topic in topics]
        self._best = np.array([best(grades) if len(grades) else 1.0 for grades in judged])

    def select_topics(self, positions: Sequence[int]) -> SignalTable:
        """The table of the topics at these positions."""
        return SignalTable([self.topics[position] for position in positions], self._measure)

    def select_signals(self, signals: Sequence[int]) -> SignalTable:
        """The table with only the signals at these positions."""
        topics = [dataclasses_replace(topic, values=topic.values[:, list(signals)]) for topic in self.topics]
        return SignalTable(topics, self._measure)

    def compute_figures(self, scores: Array) -> Array:
        """The measure of each topic, (T,), for scores (T, D). Ties keep the first stage's order."""
        relevant_scores = scores[self._rows, self._columns][:, None]
        rows = scores[self._rows]
        is_earlier = np.arange(scores.shape[1]) < self._columns[:, None]
        is_above = (rows > relevant_scores) | ((rows == relevant_scores) & is_earlier)
        ranks = is_above.sum(axis=1) + 1
        relevant_so_far = (is_above & self._relevant[self._rows]).sum(axis=1) + 1
        gains = self._gain(ranks, relevant_so_far, self._relevant_grades)
        sums = np.bincount(self._rows, gains, len(self.topics))
        return np.asarray((sums + self._gain_below) / self._best)

    def _compute_gain_below(self, topic: TopicSignals) -> float:
        """The gain of the relevant sentences below the candidates, whose ranks are fixed."""
        n, relevant_above = len(topic.grades), int((topic.grades > 0).sum())
        ids = enumerate(topic.ids[:RUN_DEPTH], 1)
        ranks = [rank for rank, id in ids if rank > n and id in topic.judgements]
        grades = np.array([topic.judgements[topic.ids[rank - 1]] for rank in ranks], np.int64)
        relevant_so_far = np.arange(len(ranks)) + relevant_above + 1
        return float(self._gain(np.array(ranks, np.int64), relevant_so_far, grades).sum())


def parse_measure(name: str) -> Measure:
    """Parse AP, nDCG or nDCG@k, as in trec_eval: nDCG's gain is the grade, its discount is log2(1 + rank).

    Raises UsageError for another measure.
    """
    if name == "AP":
        return Measure(lambda ranks, relevant, grades: np.asarray(relevant / ranks), len)
    match = re.fullmatch(r"nDCG(?:@([1-9]\d{0,3}))?", name)
    if not match:
        raise UsageError(f"cannot learn for {name!r}: choose AP, nDCG or nDCG@k, such as nDCG@10")
    cutoff = int(match[1]) if match[1] else RUN_DEPTH

    def gain(ranks: Integers, relevant: Integers, grades: Integers) -> Array:
        return np.asarray(np.where(ranks <= cutoff, grades / np.log2(1.0 + ranks), 0.0))

    def best(grades: Integers) -> float:
        ranks = np.arange(1, len(grades) + 1)
        return float(gain(ranks, ranks, grades).sum())

    return Measure(gain, best)
