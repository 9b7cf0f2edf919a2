"""From an index, topics and judgements to a ranking: gather, validate, learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from esr.errors import UsageError
from esr.evaluation.results import evaluate_runs
from esr.learning.gather import TopicSignals
from esr.learning.learner import LEARNERS
from esr.learning.outcome import FIRST, LEARNED, Outcome
from esr.learning.table import Table
from esr.learning.twins import groups
from esr.learning.validate import Tick, ablation, cross_validated, run, split
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal

LeaveOut = Callable[[Sequence[RankingSignal]], dict[str, list[str]]]
ABLATIONS: Mapping[str, LeaveOut] = {
    "no": lambda signals: {},
    "groups": lambda signals: _by_group(signals),
    "signals": lambda signals: {each.signal: [each.signal] for each in signals},
}
"""What is left out in turn: nothing, each group of signals, each signal."""


@dataclass(frozen=True)
class Wanted:
    """How to learn: the learner, what it is measured by, the folds, what ablation leaves out."""

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
    wanted: Wanted,
    given_groups: Mapping[str, str],
    tick: Tick = lambda n: None,
) -> tuple[Ranking, Outcome]:
    """The ranking learned on all topics, and what learning is worth on topics left out."""
    learner, table = LEARNERS[wanted.learner], Table(topics, wanted.measure)
    if not table.grades.any():
        raise UsageError("no relevant sentence is among the best of the first stage: nothing to learn from")
    together = groups(topics, given_groups)
    parts = split(table, wanted.folds, together, wanted.seed)
    scores = cross_validated(table, signals, learner, parts, wanted.seed, tick)
    learned = learner(table, signals, wanted.seed)
    tick(1)
    leave_out = ABLATIONS[wanted.ablate](signals)
    lost = ablation(table, signals, learner, parts, wanted.seed, leave_out, scores, tick)
    runs = {FIRST: run(table, table.first), LEARNED: run(table, scores)}
    qrels = {each.topic: dict(each.grades_of) for each in topics}
    names = list(dict.fromkeys([wanted.measure, "AP", "P@10", "RR", "nDCG@10"]))
    found = Outcome(
        wanted.learner,
        wanted.measure,
        len(parts),
        wanted.seed,
        wanted.depth,
        len(topics),
        len(set(together.values())),
        evaluate_runs(names, qrels, runs, baseline=FIRST),
        _ranked(learned.signals, learned.importance.tolist()),
        lost,
    )
    return learned.ranking(base, wanted.depth), found


def steps(signals: Sequence[RankingSignal], wanted: Wanted) -> int:
    """How often `learn` calls `tick`."""
    left_out = ABLATIONS[wanted.ablate](signals).values()
    return wanted.folds * (1 + sum(len(names) < len(signals) for names in left_out)) + 1


def _by_group(signals: Sequence[RankingSignal]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in signals:
        found.setdefault(each.type.group, []).append(each.signal)
    return found


def _ranked(signals: Sequence[RankingSignal], worth: Sequence[float]) -> list[tuple[str, float]]:
    named = [(each.signal, value) for each, value in zip(signals, worth, strict=True)]
    return sorted(named, key=lambda pair: -pair[1])
