import random

import pytest

from esr.errors import UsageError
from esr.evaluation import measures
from esr.evaluation.results import ALL, evaluate_runs
from esr.evaluation.significance import compare_systems, correct_p_values

QRELS = {topic: {"a": 1, "b": 0, "c": 0} for topic in ("1", "2", "3", "4")}
GOOD = {topic: {"a": 3.0, "b": 2.0, "c": 1.0} for topic in QRELS}
FAIR = {topic: {"a": 3.0 if topic < "3" else 1.5, "b": 2.0} for topic in QRELS}
POOR = {"1": {"a": 1.0, "b": 2.0, "c": 3.0}, "9": {"a": 1.0}}
RUNS = {"good": GOOD, "fair": FAIR, "poor": POOR}


def test_every_run_has_its_means_over_the_judged_topics():
    results = evaluate_runs(["AP", "P@1"], QRELS, RUNS)
    assert [result.name for result in results] == ["good", "fair", "poor"]
    assert [result.groups[ALL].means for result in results] == [
        {"AP": 1.0, "P@1": 1.0},
        {"AP": 0.75, "P@1": 0.5},
        {"AP": pytest.approx(1 / 12), "P@1": 0.0},
    ]
    assert results[2].values["AP"] == {"1": pytest.approx(1 / 3), "2": 0.0, "3": 0.0, "4": 0.0}
    assert all(not result.groups[ALL].significance for result in results)


def test_other_runs_are_compared_with_the_baseline_and_corrected_together():
    good, fair, poor = evaluate_runs(["AP", "P@1"], QRELS, RUNS, baseline="good", resamples=500, seed=3)
    assert good.is_baseline and not good.groups[ALL].significance
    values = {name: measures.evaluate(["AP"], QRELS, run)["AP"] for name, run in RUNS.items()}
    alone = [
        compare_systems(values[name], values["good"], resamples=500, seed=3) for name in ("fair", "poor")
    ]
    assert [fair.groups[ALL].significance["AP"], poor.groups[ALL].significance["AP"]] == correct_p_values(
        alone
    )
    assert poor.groups[ALL].significance["AP"].losses == 4
    assert poor.groups[ALL].significance["AP"].t_test_holm == 2 * alone[1].t_test


def test_figures_are_broken_down_by_topic_type():
    kinds = {"1": "opinion", "2": "event", "3": "opinion", "9": "other"}
    (good, fair) = evaluate_runs(
        ["AP"], QRELS, {"good": GOOD, "fair": FAIR}, kinds=kinds, baseline="good", resamples=100
    )
    assert {kind: group.topics for kind, group in fair.groups.items()} == {
        "all": ("1", "2", "3", "4"),
        "event": ("2",),
        "opinion": ("1", "3"),
        "no type": ("4",),
    }
    assert [group.means["AP"] for group in fair.groups.values()] == [0.75, 1.0, 0.75, 0.5]
    assert [group.significance["AP"].losses for group in fair.groups.values()] == [2, 0, 1, 1]
    assert list(good.groups) == list(fair.groups)


def test_the_order_of_lines_in_a_run_does_not_affect_the_comparison():
    chance = random.Random(4)
    judgements = {f"{n}": {"a": 1} for n in range(40)}
    run = {topic: {"a": 0.5} | {f"x{n}": chance.random() for n in range(9)} for topic in judgements}
    base = {topic: {"a": 0.5} | {f"x{n}": chance.random() for n in range(9)} for topic in judgements}
    reordered = {topic: dict(reversed(run[topic].items())) for topic in reversed(run)}
    first, second = (
        evaluate_runs(["AP"], judgements, {"base": base, "run": ordered}, baseline="base")[1]
        for ordered in (run, reordered)
    )
    assert first.groups[ALL].significance == second.groups[ALL].significance


def test_topics_without_a_value_are_left_out_of_the_comparison():
    kinds = {"1": "event", "2": "event", "3": "event", "4": "opinion"}
    runs = {"base": {**GOOD, "4": {}}, "run": FAIR}
    (_, run) = evaluate_runs(["Accuracy"], QRELS, runs, kinds=kinds, baseline="base")
    assert run.groups[ALL].significance["Accuracy"].topics == 3
    assert "Accuracy" not in run.groups["opinion"].significance


def test_an_unknown_baseline_and_a_reserved_type_are_rejected():
    with pytest.raises(UsageError, match="'tfisf' is not among the runs"):
        evaluate_runs(["AP"], QRELS, RUNS, baseline="tfisf")
    with pytest.raises(UsageError, match="must not be called 'all'"):
        evaluate_runs(["AP"], QRELS, RUNS, kinds={"1": "all"})
