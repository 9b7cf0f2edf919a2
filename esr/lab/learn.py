"""Learn a ranking from signals and judgements.

The outcome has the final ranking, the gain of learning on held-out topics, and the contribution of each
signal (ablation). One topic may reveal the answers of another. Such topics are grouped, and a group is never
split across folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from esr.lab.cross_validation import split_folds
from esr.lab.learners import LEARNERS, Learner
from esr.lab.results import ALL, RunEvaluation, evaluate_runs, format_difference, format_p
from esr.lab.significance import SystemComparison, compare_systems, correct_p_values
from esr.lab.training_data import RUN_DEPTH, SignalTable, TopicSignals
from esr.plugin import UsageError
from esr.plugin.provisional import Array, Ranking, RankingSignal, Scores, merge_scores

Tick = Callable[[int], None]


class Ablation(NamedTuple):
    """The figure without some signals, and the comparison of all signals with the remaining ones."""

    without: str
    figure: float
    comparison: SystemComparison


class Validation(NamedTuple):
    """Cross-validation with this learner and seed on these folds, which are positions of topics."""

    learner: Learner
    folds: Sequence[Sequence[int]]
    seed: int

    def cross_validate(
        self, table: SignalTable, signals: Sequence[RankingSignal], tick: Tick = lambda n: None
    ) -> Array:
        """Scores of all candidates, (T, D), those of each topic by a model trained on the other folds."""
        scores = table.first_scores.copy()
        for fold in self.folds:
            others = sorted(set(range(len(table.topics))) - set(fold))
            model = self.learner(table.select_topics(others), signals, self.seed)
            of_fold = model.scores(table.select_topics(fold))  # as wide as the fold's longest topic
            scores[list(fold), : of_fold.shape[1]] = of_fold
            tick(1)
        return scores

    def ablate(
        self,
        table: SignalTable,
        signals: Sequence[RankingSignal],
        signal_groups: Mapping[str, Sequence[str]],
        full_scores: Array,
        tick: Tick = lambda n: None,
    ) -> list[Ablation]:
        """Cross-validate without each group of signals in turn, and compare with the scores of all signals.

        P-values are corrected for the number of groups.
        """
        full_figures = figures_by_topic(table, full_scores)
        names, means, comparisons = [], [], []
        for name, without in signal_groups.items():
            rest = [n for n, signal in enumerate(signals) if signal.signal not in without]
            if not rest:
                continue
            reduced = table.select_signals(rest)
            scores = self.cross_validate(reduced, [signals[n] for n in rest], tick)
            names.append(name)
            means.append(float(table.compute_figures(scores).mean()))
            comparisons.append(compare_systems(full_figures, figures_by_topic(table, scores)))
        return [Ablation(*row) for row in zip(names, means, correct_p_values(comparisons), strict=True)]


def figures_by_topic(table: SignalTable, scores: Array) -> dict[str, float]:
    """The value of the measure for each topic, under scores (T, D)."""
    figures = table.compute_figures(scores).tolist()
    return {topic.topic: figure for topic, figure in zip(table.topics, figures, strict=True)}


def split_topics(table: SignalTable, number: int, groups: Mapping[str, str], seed: int) -> list[list[int]]:
    """Split the topics into folds, as positions; topics of a group are in the same fold.

    Raises UsageError.
    """
    folds = split_folds(table.topics, number, groups, seed)
    for fold in folds:
        others = sorted(set(range(len(table.topics))) - set(fold))
        if not table.grades[others].any():
            raise UsageError("outside of one fold no topic has a relevant candidate: use fewer folds")
    return folds


def build_run(table: SignalTable, scores: Array) -> Scores:
    """The run for scores (T, D): reranked candidates, then the sentences below them in the original order.

    It has the best RUN_DEPTH sentences: vectors find candidates beyond those of the first stage.
    """
    run = {}
    for row, topic in enumerate(table.topics):
        top = np.arange(len(topic.grades))
        values = merge_scores(topic.first_scores, top, scores[row, : len(top)])
        best = np.argsort(-values, kind="stable")[:RUN_DEPTH].tolist()
        run[topic.topic] = {topic.ids[n]: float(values[n]) for n in best}
    return run


# Groups of topics


MIN_OVERLAP = 0.5
"""Topics are in one group if this share of the sentences relevant to either is relevant to both."""


def group_topics(topics: Sequence[TopicSignals], explicit_groups: Mapping[str, str]) -> dict[str, str]:
    """A group for each topic, named by one of its topics.

    Topics are in the same group if they have the same explicit group, the same words, or at least half of
    their relevant sentences in common. The relation is transitive.
    """
    parent = {topic.topic: topic.topic for topic in topics}

    def find_root(topic: str) -> str:
        while parent[topic] != topic:
            parent[topic] = topic = parent[parent[topic]]
        return topic

    for a, b in (*_pair_by_label(topics, explicit_groups), *_pair_by_relevant(topics)):
        parent[find_root(b)] = find_root(a)
    return {topic: find_root(topic) for topic in parent}


def _pair_by_label(
    topics: Sequence[TopicSignals], explicit_groups: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Pairs of topics with the same words or the same explicit group."""
    first_topics: dict[tuple[str, str], str] = {}
    for topic in topics:
        labels = [("words", " ".join(sorted(topic.query.casefold().split())))]
        labels += [("group", explicit_groups[topic.topic])] if topic.topic in explicit_groups else []
        for label in labels:
            yield first_topics.setdefault(label, topic.topic), topic.topic


def _pair_by_relevant(topics: Sequence[TopicSignals]) -> Iterator[tuple[str, str]]:
    """Pairs of topics for which at least half of the sentences relevant to either are relevant to both."""
    by_sentence: dict[str, list[TopicSignals]] = {}
    for topic in topics:
        for sentence in topic.judgements:
            by_sentence.setdefault(sentence, []).append(topic)
    for sharing in by_sentence.values():
        for n, a in enumerate(sharing):
            for b in sharing[n + 1 :]:
                common = a.judgements.keys() & b.judgements.keys()
                if len(common) >= MIN_OVERLAP * len(a.judgements.keys() | b.judgements.keys()):
                    yield a.topic, b.topic


# The outcome


FIRST, LEARNED = "first stage", "learned"
_MAX_SIGNALS = 10


@dataclass(frozen=True)
class Outcome:
    """The outcome of `esr learn`: the options, figures on held-out topics, and the importance of signals.

    `results` has the first stage, which is the baseline, and the learned ranking. `importance` has each
    signal with its importance on all topics, in descending order.
    """

    learner: str
    measure: str
    folds: int
    seed: int
    depth: int
    topics: int
    groups: int
    results: Sequence[RunEvaluation]
    importance: Sequence[tuple[str, float]]
    ablations: Sequence[Ablation]

    @property
    def comparison(self) -> SystemComparison:
        """The learned ranking compared with the first stage."""
        return self.results[1].groups[ALL].significance[self.measure]

    def figure(self, position: int) -> float:
        """The mean figure of the result at a position."""
        return self.results[position].groups[ALL].means[self.measure]


def to_dict(outcome: Outcome) -> dict[str, Any]:
    """The outcome as JSON data."""
    return {
        "learner": outcome.learner,
        "measure": outcome.measure,
        "folds": outcome.folds,
        "seed": outcome.seed,
        "depth": outcome.depth,
        "topics": outcome.topics,
        "groups": outcome.groups,
        FIRST.replace(" ", "_"): dict(outcome.results[0].groups[ALL].means),
        LEARNED: dict(outcome.results[1].groups[ALL].means),
        "comparison": outcome.comparison.as_dict(),
        "importance": [{"signal": name, "importance": value} for name, value in outcome.importance],
        "ablation": [
            {"without": a.without, outcome.measure: a.figure, "lost": a.comparison.as_dict()}
            for a in outcome.ablations
        ],
    }


def to_text(outcome: Outcome) -> str:
    """The outcome as lines of text."""
    c = outcome.comparison
    lines = [
        f"{outcome.measure} {outcome.figure(1):.4f} on held-out topics, {outcome.folds} folds of "
        f"{outcome.groups:,} groups of {outcome.topics:,} topics",
        f"{outcome.measure} {outcome.figure(0):.4f} by the first stage: difference {format_difference(c)}, "
        f"p {format_p(c.t_test)} (t-test), "
        f"{format_p(c.randomisation)} (randomisation), {c.wins} topics won, {c.losses} lost",
    ]
    used = [(name, value) for name, value in outcome.importance if value > 0]
    if not used:
        lines.append("no signal is used: the learned ranking is the first stage itself")
    lines += [f"  {name:<30}{value:12.4g}" for name, value in used[:_MAX_SIGNALS]]
    if len(used) > _MAX_SIGNALS:
        lines.append(f"  and {len(used) - _MAX_SIGNALS} more signals")
    lines += [
        f"without {a.without}: {outcome.measure} {a.figure:.4f}; they add "
        f"{format_difference(a.comparison)}, p {format_p(a.comparison.t_test_holm)}"
        for a in outcome.ablations
    ]
    return "\n".join(lines)


SelectGroups = Callable[[Sequence[RankingSignal]], dict[str, list[str]]]
ABLATIONS: Mapping[str, SelectGroups] = {
    "no": lambda signals: {},
    "groups": lambda signals: _group_signals(signals),
    "signals": lambda signals: {signal.signal: [signal.signal] for signal in signals},
}
"""The groups of signals that ablation leaves out in turn: none, each registered group, or each single signal.
"""


@dataclass(frozen=True)
class LearningOptions:
    """The learner, its measure, the folds, the seed, the depth, and the kind of ablation."""

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
    """The ranking learned on all topics, and the gain of learning on held-out topics.

    Raises UsageError if no candidate is relevant.
    """
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
    """The number of times that `learn` calls `tick`."""
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
