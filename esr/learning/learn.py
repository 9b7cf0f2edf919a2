"""Learns a ranking from topics with signals: cross-validation, the final model, ablation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from esr.errors import UsageError
from esr.evaluation.results import evaluate_runs
from esr.learning.cross_validation import Tick, Validation, build_run, split_topics
from esr.learning.learner import LEARNERS
from esr.learning.outcome import FIRST, LEARNED, Outcome
from esr.learning.signal_table import SignalTable
from esr.learning.topic_groups import group_topics
from esr.learning.topic_signals import TopicSignals
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal

SelectGroups = Callable[[Sequence[RankingSignal]], dict[str, list[str]]]
ABLATIONS: Mapping[str, SelectGroups] = {
    "no": lambda signals: {},
    "groups": lambda signals: _group_signals(signals),
    "signals": lambda signals: {signal.signal: [signal.signal] for signal in signals},
}
"""What ablation leaves out in turn: nothing, each group of signals, each signal."""


@dataclass(frozen=True)
class LearningOptions:
    """How to learn: the learner, its measure, the folds, the depth, and what ablation leaves out."""

    learner: str
    measure: str
    folds: int
    seed: int
    depth: int
    ablate: str


def learn(
    topics: Sequence[TopicSignals],
    signals: Sequence[RankingSignal],
    base: Ranking,
    options: LearningOptions,
    explicit_groups: Mapping[str, str],
    tick: Tick = lambda n: None,
) -> tuple[Ranking, Outcome]:
    """The ranking learned on all topics, and the gain of learning on held-out topics."""
    learner, table = LEARNERS[options.learner], SignalTable(topics, options.measure)
    if not table.grades.any():
        raise UsageError(
            "no candidate of the first stage is relevant, so nothing can be learned: check the judgements"
        )
    groups = group_topics(topics, explicit_groups)
    folds = split_topics(table, options.folds, groups, options.seed)
    validation = Validation(learner, folds, options.seed)
    scores = validation.cross_validate(table, signals, tick)
    model = learner(table, signals, options.seed)
    tick(1)
    ablations = validation.ablate(table, signals, ABLATIONS[options.ablate](signals), scores, tick)
    runs = {FIRST: {topic.topic: topic.first_run for topic in topics}, LEARNED: build_run(table, scores)}
    qrels = {topic.topic: dict(topic.judgements) for topic in topics}
    measures = list(dict.fromkeys([options.measure, "AP", "P@10", "RR", "nDCG@10"]))
    outcome = Outcome(
        learner=options.learner,
        measure=options.measure,
        folds=len(folds),
        seed=options.seed,
        depth=options.depth,
        topics=len(topics),
        groups=len(set(groups.values())),
        results=evaluate_runs(measures, qrels, runs, baseline=FIRST),
        importance=_rank_signals(model.signals, model.importance.tolist()),
        ablations=ablations,
    )
    return model.ranking(base, options.depth), outcome


def count_steps(signals: Sequence[RankingSignal], options: LearningOptions) -> int:
    """How often `learn` calls `tick`."""
    signal_groups = ABLATIONS[options.ablate](signals).values()
    return options.folds * (1 + sum(len(names) < len(signals) for names in signal_groups)) + 1


def _group_signals(signals: Sequence[RankingSignal]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for signal in signals:
        groups.setdefault(signal.type.group, []).append(signal.signal)
    return groups


def _rank_signals(signals: Sequence[RankingSignal], importance: Sequence[float]) -> list[tuple[str, float]]:
    pairs = [(signal.signal, value) for signal, value in zip(signals, importance, strict=True)]
    return sorted(pairs, key=lambda pair: -pair[1])
