from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from esr.errors import UsageError
from esr.lab.learn import (
    Ablation,
    LearningOptions,
    Outcome,
    Validation,
    count_steps,
    group_topics,
    learn,
    split_topics,
    to_text,
)
from esr.lab.learners import LearnedModel, fit_linear
from esr.lab.measures import compare_systems, correct_p_values
from esr.lab.results import evaluate_runs
from esr.lab.training_data import SignalTable, TopicSignals
from esr.plans.evaluate import Array
from esr.ranking.ranking import Ranking
from esr.ranking.signals import RankingSignal
from tests.lab.learning.samples import SIGNALS, topics


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


@pytest.mark.slow
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


@pytest.mark.slow
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
    scores = Validation(fit_linear, [[0], [1, 2], [3, 4, 5]], 0).cross_validate(table, SIGNALS)
    model = fit_linear(table.select_topics([1, 2, 3, 4, 5]), SIGNALS, 0)
    assert scores[0, :size].tolist() == model.scores(table)[0, :size].tolist()
    assert np.isneginf(scores[0, size:]).all()


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_fold_is_scored_by_the_model_of_the_other_folds() -> None:
    table = SignalTable(topics(40), "AP")
    folds = split_topics(table, 4, {}, 0)
    scores = Validation(fit_linear, folds, 0).cross_validate(table, SIGNALS)
    rest = sorted(set(range(40)) - set(folds[1]))
    expected = fit_linear(table.select_topics(rest), SIGNALS, 0).scores(table.select_topics(folds[1]))
    assert scores[folds[1]].tolist() == expected.tolist()


@pytest.mark.slow
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


@pytest.mark.slow
def test_topics_without_relevant_candidates_are_rejected() -> None:
    irrelevant = [replace(topic, grades=np.zeros_like(topic.grades)) for topic in topics(10)]
    options = LearningOptions("linear", "AP", 2, 0, 20, "no")
    with pytest.raises(UsageError, match="nothing can be learned"):
        learn(irrelevant, SIGNALS, Ranking(), options, {})


TOPICS = [f"t{n}" for n in range(40)]


def test_a_p_value_that_rounds_to_zero_is_said_to_be_smaller_than_what_is_printed() -> None:
    qrels = {topic: {"a": 1} for topic in TOPICS}
    poor = {topic: {"a": 1.0, "b": 2.0} for topic in TOPICS} | {TOPICS[0]: {"a": 2.0, "b": 1.0}}
    good = {topic: {"a": 2.0, "b": 1.0} for topic in TOPICS}
    results = evaluate_runs(["AP"], qrels, {"first stage": poor, "learned": good}, baseline="first stage")
    values = [{topic: run.values["AP"][topic] for topic in TOPICS} for run in results]
    (comparison,) = correct_p_values([compare_systems(values[1], values[0])])
    ablation = Ablation("dir", 0.5, comparison)
    text = to_text(Outcome("linear", "AP", 5, 0, 20, 40, 40, results, [("dir", 1.0)], [ablation]))
    assert "p <0.0001 (t-test), " in text and "by them, p <0.0001" in text
    assert "p 0.0000" not in text


def test_topics_are_grouped_by_file_by_query_and_by_shared_answers() -> None:
    a, b, c, d, e, f = topics(6)
    b = replace(b, query="Of WORDS 0")  # the words of a
    c = replace(c, judgements=dict(list(b.judgements.items())[:2]))  # two of the three sentences of b
    f = replace(f, judgements={**f.judgements, next(iter(e.judgements)): 1})  # one of many of e
    groups = group_topics([a, b, c, d, e, f], {"t3": "x", "t4": "x", "gone": "x"})
    assert groups["t0"] == groups["t1"] == groups["t2"]
    assert groups["t3"] == groups["t4"]
    assert len(set(groups.values())) == 3
