from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from esr.errors import UsageError
from esr.learning import linear
from esr.learning.cross_validation import Validation, split_topics
from esr.learning.learn import LearningOptions, count_steps, learn
from esr.learning.learner import LearnedModel
from esr.learning.signal_table import SignalTable
from esr.learning.topic_groups import group_topics
from esr.learning.topic_signals import TopicSignals
from esr.plans.evidence import Array
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal
from tests.learning.samples import SIGNALS, topics

pytestmark = pytest.mark.slow


class Memory:
    """A learner that memorises the relevant sentences by a signal that numbers all sentences."""

    def __init__(self, table: SignalTable, signals: Sequence[RankingSignal], seed: int) -> None:
        self.signals = tuple(signals)
        self.importance = np.ones(len(signals))
        self.topics = {topic.topic for topic in table.topics}
        numbers = [topic.values[topic.grades > 0, 0] for topic in table.topics]
        self._relevant = np.concatenate(numbers)

    def scores(self, table: SignalTable) -> Array:
        return np.asarray(table.first_scores + 100.0 * np.isin(table.values[..., 0], self._relevant))

    def ranking(self, base: Ranking, depth: int) -> Ranking:
        return base


def paired_topics(seed: int = 0) -> list[TopicSignals]:
    """Topics in pairs: both of a pair have the same sentences, which a signal numbers at random."""
    chance = np.random.default_rng(seed)
    pairs = []
    for topic in topics(30, seed):
        values = topic.values.copy()
        values[:, 0] = chance.permutation(10**6)[: len(values)]
        first = replace(topic, values=values)
        second = replace(first, topic=f"{topic.topic}-twin", query=f"otherwise {topic.query}")
        pairs += [first, second]
    return pairs


def learner(table: SignalTable, signals: Sequence[RankingSignal], seed: int) -> LearnedModel:
    return Memory(table, signals, seed)


def test_memorising_topics_gains_nothing_on_held_out_topics() -> None:
    sample = paired_topics()
    table = SignalTable(sample, "AP")
    default = table.compute_figures(table.first_scores)
    remembered = table.compute_figures(learner(table, SIGNALS, 0).scores(table))
    assert remembered.mean() > default.mean() + 0.2
    separate = split_topics(table, 5, group_topics(sample, {}), 0)
    assert (
        table.compute_figures(Validation(learner, separate, 0).cross_validate(table, SIGNALS)).tolist()
        == default.tolist()
    )
    # It gains if the topics of a pair are in different folds: the groups prevent this.
    mixed = split_topics(table, 5, {}, 0)
    assert (
        table.compute_figures(Validation(learner, mixed, 0).cross_validate(table, SIGNALS)).mean()
        > default.mean() + 0.1
    )


@pytest.mark.parametrize("size", [0, 8])
def test_a_fold_may_have_fewer_candidates_than_the_others(size: int) -> None:
    first, *others = topics(6)
    short = replace(
        first,
        ids=first.ids[:size],
        first_scores=first.first_scores[:size],
        values=first.values[:size],
        grades=first.grades[:size],
    )
    table = SignalTable([short, *others], "AP")
    scores = Validation(linear.fit, [[0], [1, 2], [3, 4, 5]], 0).cross_validate(table, SIGNALS)
    model = linear.fit(table.select_topics([1, 2, 3, 4, 5]), SIGNALS, 0)
    assert scores[0, :size].tolist() == model.scores(table)[0, :size].tolist()
    assert np.isneginf(scores[0, size:]).all()


def test_no_group_is_split_and_every_topic_is_in_one_fold() -> None:
    sample = paired_topics()
    table = SignalTable(sample, "AP")
    groups = group_topics(sample, {"t0": "x", "t1": "x", "t2": "x"})
    folds = split_topics(table, 4, groups, 1)
    assert sorted(position for fold in folds for position in fold) == list(range(60))
    folds_by_group: dict[str, set[int]] = {}
    for number, fold in enumerate(folds):
        for position in fold:
            folds_by_group.setdefault(groups[sample[position].topic], set()).add(number)
    assert {len(numbers) for numbers in folds_by_group.values()} == {1}
    assert groups["t0"] == groups["t2-twin"]
    with pytest.raises(UsageError, match="the number of folds must be from 2 to"):
        split_topics(table, 61, groups, 0)


def test_a_fold_is_scored_by_the_model_of_the_other_folds() -> None:
    table = SignalTable(topics(40), "AP")
    folds = split_topics(table, 4, {}, 0)
    scores = Validation(linear.fit, folds, 0).cross_validate(table, SIGNALS)
    rest = sorted(set(range(40)) - set(folds[1]))
    expected = linear.fit(table.select_topics(rest), SIGNALS, 0).scores(table.select_topics(folds[1]))
    assert scores[folds[1]].tolist() == expected.tolist()


def test_the_outcome_has_gain_importance_and_ablations() -> None:
    options = LearningOptions("linear", "AP", 4, 0, 20, "signals")
    ticks: list[int] = []
    ranking, outcome = learn(topics(80), SIGNALS, Ranking(), options, {}, ticks.append)
    assert sum(ticks) == count_steps(SIGNALS, options) == 13
    assert [signal.signal for signal in ranking.rerank] == ["dir"]
    assert outcome.comparison.difference > 0.05
    assert outcome.comparison.t_test < 0.01
    assert outcome.figure(1) - outcome.figure(0) == pytest.approx(outcome.comparison.difference)
    assert [name for name, _ in outcome.importance] == ["dir", "feature quote"]
    ablations = {ablation.without: ablation for ablation in outcome.ablations}
    assert ablations["dir"].comparison.difference == pytest.approx(
        outcome.figure(1) - ablations["dir"].figure
    )
    assert (
        ablations["dir"].comparison.difference > 0.05 > abs(ablations["feature quote"].comparison.difference)
    )
    assert ablations["dir"].comparison.t_test_holm < 0.01


def test_topics_without_relevant_candidates_are_rejected() -> None:
    irrelevant = [replace(topic, grades=np.zeros_like(topic.grades)) for topic in topics(10)]
    options = LearningOptions("linear", "AP", 2, 0, 20, "no")
    with pytest.raises(UsageError, match="nothing can be learned"):
        learn(irrelevant, SIGNALS, Ranking(), options, {})
