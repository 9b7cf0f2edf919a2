"""Learning a ranking from judgements: folds, signals, importance and ablation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from esr.errors import UsageError
from esr.lab import measures
from esr.lab.learn import (
    Ablation,
    LearningOptions,
    Outcome,
    Validation,
    build_run,
    count_steps,
    group_topics,
    learn,
    split_topics,
    to_text,
)
from esr.lab.learners import LearnedModel, Linear, fit_linear
from esr.lab.results import evaluate_runs, format_difference
from esr.lab.significance import compare_systems, correct_p_values
from esr.lab.training_data import (
    RUN_DEPTH,
    SignalTable,
    TopicSignals,
    collect_signals,
    list_signals,
    parse_measure,
    select_signals,
)
from esr.lab.tuner import Task
from esr.plans.evaluate import Array
from esr.ranking.explanation.explain import explain
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.second_stage.signals import RankingSignal
from esr.text.document import Document, Sentence
from tests.lab.conftest import SIGNALS, topics
from tests.ranking.test_reranker import QUERIES, documents
from tests.support.elasticsearch import load


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


def test_a_p_value_stands_beside_the_interval_and_the_effect() -> None:
    comparison = compare_systems({"a": 0.5, "b": 0.7, "c": 0.9}, {"a": 0.4, "b": 0.4, "c": 0.4})
    assert format_difference(comparison) == "+0.3000 (-0.1968 to +0.7968), effect +1.50"
    assert format_difference(compare_systems({"a": 0.5}, {"a": 0.4})) == "+0.1000"


def test_a_p_value_that_rounds_to_zero_is_said_to_be_smaller_than_what_is_printed() -> None:
    qrels = {topic: {"a": 1} for topic in TOPICS}
    poor = {topic: {"a": 1.0, "b": 2.0} for topic in TOPICS} | {TOPICS[0]: {"a": 2.0, "b": 1.0}}
    good = {topic: {"a": 2.0, "b": 1.0} for topic in TOPICS}
    results = evaluate_runs(["AP"], qrels, {"first stage": poor, "learned": good}, baseline="first stage")
    values = [{topic: run.values["AP"][topic] for topic in TOPICS} for run in results]
    (comparison,) = correct_p_values([compare_systems(values[1], values[0])])
    ablation = Ablation("dir", 0.5, comparison)
    text = to_text(Outcome("linear", "AP", 5, 0, 20, 40, 40, results, [("dir", 1.0)], [ablation]))
    assert "p <0.0001 (t-test), " in text and ", p <0.0001" in text.splitlines()[-1]
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


@pytest.mark.parametrize("name", ["AP", "nDCG", "nDCG@10"])
def test_figures_equal_those_of_the_evaluator_over_the_full_run(name: str) -> None:
    sample = topics(30, below=40)
    table = SignalTable(sample, name)
    scores = table.first_scores + np.random.default_rng(1).normal(size=table.first_scores.shape)
    qrels = {topic.topic: dict(topic.judgements) for topic in sample}
    expected = measures.evaluate([name], qrels, build_run(table, scores))[name]
    assert table.compute_figures(scores).tolist() == pytest.approx(
        [expected[topic.topic] for topic in sample], abs=1e-12
    )


def test_equal_scores_keep_the_order_of_the_first_stage() -> None:
    table = SignalTable(topics(30), "AP")
    assert (
        table.compute_figures(np.zeros(table.first_scores.shape)).tolist()
        == table.compute_figures(table.first_scores).tolist()
    )


def test_topics_with_few_or_no_candidates_are_measured() -> None:
    empty = TopicSignals("a", "x", (), np.zeros(0), np.zeros((0, 1)), np.zeros(0, np.int64), {"s": 1}, {})
    few = TopicSignals(
        "b", "y", ("s", "u"), np.array([2.0, 1.0]), np.ones((2, 1)), np.array([0, 1]), {"u": 1}, {}
    )
    table = SignalTable([empty, few], "AP")
    assert table.compute_figures(table.first_scores).tolist() == [0.0, 0.5]
    assert build_run(table, table.first_scores) == {"a": {}, "b": {"s": 2.0, "u": 1.0}}


def test_a_run_is_no_deeper_than_that_of_the_first_stage() -> None:
    ids, values = tuple(f"s{n}" for n in range(RUN_DEPTH + 9)), np.zeros((5, 1))
    scores = np.arange(len(ids), 0.0, -1.0)
    topic = TopicSignals("t", "q", ids, scores, values, np.array([0, 0, 0, 0, 1]), {"s4": 1}, {})
    run = build_run(SignalTable([topic], "AP"), np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]))["t"]
    assert list(run) == ["s4", "s3", "s2", "s1", "s0", *ids[5:RUN_DEPTH]]


@pytest.mark.parametrize("name", ["RR", "nDCG@0", "ap", "nDCG@x", ""])
def test_other_measures_are_rejected(name: str) -> None:
    with pytest.raises(UsageError, match="cannot learn for"):
        parse_measure(name)


TASKS = [Task(f"t{n}", query, ("d3.s0",)) for n, query in enumerate([*QUERIES, "the of"])]
GRADES = {f"d{n}.s{n % 3}": 1 + n % 2 for n in range(40)}
QRELS = {task.topic: {**GRADES, "d4.s0": 0, "nowhere": 1} for task in TASKS}


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    path = str(tmp_path_factory.mktemp("signals") / "index")
    load(path, documents(), analyzer="plain")
    return open_searcher(path)


def test_signals_are_listed_from_the_registries_and_the_index(searcher: Searcher) -> None:
    names = [signal.signal for signal in list_signals(searcher.index, Ranking())]
    assert {"tdsr", "mrf_fdm", "dir", "2si both", "2si document", "prior length", "feature len"} <= set(names)
    assert "feature subj" not in names  # the index has none
    assert not [name for name in names if name.startswith("mrf_fidm")]
    base = Ranking.from_dict({"priors": {"length": 1.0}, "features": [{"feature": "len", "form": "log"}]})
    names = [signal.signal for signal in list_signals(searcher.index, base)]
    assert "prior length" not in names
    assert "feature len" not in names


def test_features_that_documents_bring_are_signals(tmp_path: Path) -> None:
    document = Document("d", (Sentence("d.s0", "harbour", {"trust": 0.5, "quote": 1.0}),))
    load(str(tmp_path / "index"), [document])
    with open_searcher(tmp_path / "index") as opened:
        names = [signal.signal for signal in list_signals(opened.index, Ranking())]
    assert names[-1] == "feature trust" and "feature quote" in names


def test_signals_are_selected_by_name_or_group(searcher: Searcher) -> None:
    signals = list_signals(searcher.index, Ranking())
    names = [signal.signal for signal in select_signals(signals, ["features", "2si document"])]
    assert names == ["2si document", "feature len", "feature position"]
    assert select_signals(signals, []) == signals
    with pytest.raises(UsageError, match="unknown signal of the index 'featurs': did you mean 'features'"):
        select_signals(signals, ["featurs"])


def test_candidates_have_the_signal_values_of_a_search(searcher: Searcher) -> None:
    signals = list_signals(searcher.index, Ranking())
    collected = collect_signals(searcher, TASKS, QRELS, Ranking(), signals, depth=12)
    for task, topic in zip(TASKS, collected, strict=True):
        hits = searcher.search(task.query, 1000).hits if task.query != "the of" else []
        assert list(topic.ids) == [hit.sentence_id for hit in hits]
        assert topic.first_scores.tolist() == [hit.score for hit in hits]
        assert topic.values.shape == (min(12, len(hits)), len(signals))
        assert topic.grades.tolist() == [GRADES.get(id, 0) for id in topic.ids[:12]]
        assert topic.judgements == {**GRADES, "nowhere": 1}
    assert {0, 1, 2} == {grade for topic in collected for grade in topic.grades.tolist()}
    for name, ranking in (("dir", Ranking("dir")), ("bm25f surrounding", Ranking("bm25f", "surrounding"))):
        column = [signal.signal for signal in signals].index(name)
        scores = [explain(searcher.prepare(QUERIES[0], ranking), id).score for id in collected[0].ids[:12]]
        assert collected[0].values[:, column].tolist() == pytest.approx(scores, abs=1e-12)


def test_a_learned_ranking_gives_the_scores_of_its_training(searcher: Searcher) -> None:
    names = ("dir", "tdsr", "feature len")
    signals = tuple(map(RankingSignal, names))
    weights = np.array([0.7, 5.0, -0.3])
    collected = collect_signals(searcher, TASKS[:4], QRELS, Ranking(), signals, depth=1000)
    table = SignalTable(collected, "AP")
    model = Linear(signals, weights, weights)
    scores = build_run(table, model.scores(table))
    for task in TASKS[:4]:
        hits = searcher.search(task.query, 1000, ranking=model.ranking(Ranking(), 1000)).hits
        search_scores = {hit.sentence_id: hit.score for hit in hits}
        assert search_scores == pytest.approx(scores[task.topic], abs=1e-9)
        assert len(hits) > 5


def test_a_base_with_a_second_stage_is_rejected(searcher: Searcher) -> None:
    for base in (Ranking("tdsr"), Ranking.from_dict({"rerank": [{"signal": "tdsr"}]})):
        with pytest.raises(UsageError, match="learning creates the second stage"):
            collect_signals(searcher, TASKS, QRELS, base, ())


def test_a_helpful_signal_has_a_weight_and_noise_has_none() -> None:
    table = SignalTable(topics(120), "AP")
    model = fit_linear(table, SIGNALS)
    assert model.weights[0] > 0.1
    assert model.weights[1] == 0.0
    assert (
        table.compute_figures(model.scores(table)).mean()
        > table.compute_figures(table.first_scores).mean() + 0.05
    )
    assert model.importance[0] > model.importance[1] == 0.0


def test_the_weights_do_not_depend_on_the_scale_of_signals() -> None:
    sample = topics(60)
    larger = topics(60)
    for topic in larger:
        topic.values[:, 0] *= 1000.0
    original, scaled = (fit_linear(SignalTable(topics_, "AP"), SIGNALS) for topics_ in (sample, larger))
    assert scaled.weights * [1000.0, 1.0] == pytest.approx(original.weights)


def test_the_same_seed_gives_the_same_weights() -> None:
    table = SignalTable(topics(60), "nDCG@10")
    assert fit_linear(table, SIGNALS, 3).weights.tolist() == fit_linear(table, SIGNALS, 3).weights.tolist()


def test_a_constant_or_missing_signal_is_not_used() -> None:
    sample = topics(30)
    for topic in sample:
        topic.values[:, 0], topic.values[:, 1] = 7.0, np.nan
    table = SignalTable(sample, "AP")
    model = fit_linear(table, SIGNALS)
    assert model.weights.tolist() == [0.0, 0.0]
    assert model.scores(table).tolist() == table.first_scores.tolist()


def test_features_and_priors_go_to_the_first_stage_and_other_signals_to_the_second() -> None:
    names = ("dir", "feature len", "feature subj", "prior importance", "tdsr", "2si document")
    weights = np.array([0.5, -0.1, 0.2, 0.3, 0.0, 0.4])
    model = Linear(tuple(map(RankingSignal, names)), weights, np.abs(weights))
    ranking = model.ranking(Ranking(), 50)
    assert [(feature.feature, feature.form, feature.params["w"]) for feature in ranking.features] == [
        ("len", "log", -0.1),
        ("subj", "linear", 0.2),
    ]
    assert ranking.priors == {"importance": 0.3}
    assert [(signal.signal, signal.weight) for signal in ranking.rerank] == [
        ("dir", 0.5),
        ("2si document", 0.4),
    ]
    assert ranking.depth == 50
    assert Ranking.from_dict(ranking.as_dict()).as_dict() == ranking.as_dict()
