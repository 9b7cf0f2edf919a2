import random

import pytest

from esr.errors import UsageError
from esr.evaluation import measures
from esr.evaluation.results import ALL, evaluate_runs
from esr.evaluation.significance import compare, corrected

QRELS = {topic: {"a": 1, "b": 0, "c": 0} for topic in ("1", "2", "3", "4")}
GOOD = {topic: {"a": 3.0, "b": 2.0, "c": 1.0} for topic in QRELS}
FAIR = {topic: {"a": 3.0 if topic < "3" else 1.5, "b": 2.0} for topic in QRELS}
POOR = {"1": {"a": 1.0, "b": 2.0, "c": 3.0}, "9": {"a": 1.0}}
RUNS = {"good": GOOD, "fair": FAIR, "poor": POOR}


def test_every_run_has_its_means_over_the_judged_topics():
    results = evaluate_runs(["AP", "P@1"], QRELS, RUNS)
    assert [result.name for result in results] == ["good", "fair", "poor"]
    assert [result.parts[ALL].means for result in results] == [
        {"AP": 1.0, "P@1": 1.0},
        {"AP": 0.75, "P@1": 0.5},
        {"AP": pytest.approx(1 / 12), "P@1": 0.0},
    ]
    assert results[2].values["AP"] == {"1": pytest.approx(1 / 3), "2": 0.0, "3": 0.0, "4": 0.0}
    assert all(not result.parts[ALL].significance for result in results)


def test_the_others_are_compared_with_the_baseline_and_corrected_together():
    good, fair, poor = evaluate_runs(["AP", "P@1"], QRELS, RUNS, baseline="good", resamples=500, seed=3)
    assert good.is_baseline and not good.parts[ALL].significance
    values = {name: measures.evaluate(["AP"], QRELS, run)["AP"] for name, run in RUNS.items()}
    alone = [compare(values[name], values["good"], resamples=500, seed=3) for name in ("fair", "poor")]
    assert [fair.parts[ALL].significance["AP"], poor.parts[ALL].significance["AP"]] == corrected(alone)
    assert poor.parts[ALL].significance["AP"].losses == 4
    assert poor.parts[ALL].significance["AP"].t_test_holm == 2 * alone[1].t_test


def test_topics_are_broken_down_by_type():
    kinds = {"1": "opinion", "2": "event", "3": "opinion", "9": "other"}
    (good, fair) = evaluate_runs(
        ["AP"], QRELS, {"good": GOOD, "fair": FAIR}, kinds=kinds, baseline="good", resamples=100
    )
    assert {kind: part.topics for kind, part in fair.parts.items()} == {
        "all": ("1", "2", "3", "4"),
        "event": ("2",),
        "opinion": ("1", "3"),
        "no type": ("4",),
    }
    assert [part.means["AP"] for part in fair.parts.values()] == [0.75, 1.0, 0.75, 0.5]
    assert [part.significance["AP"].losses for part in fair.parts.values()] == [2, 0, 1, 1]
    assert list(good.parts) == list(fair.parts)


def test_the_order_of_lines_in_a_run_changes_nothing_in_a_comparison():
    chance = random.Random(4)
    judged = {f"{n}": {"a": 1} for n in range(40)}
    run = {topic: {"a": 0.5} | {f"x{n}": chance.random() for n in range(9)} for topic in judged}
    base = {topic: {"a": 0.5} | {f"x{n}": chance.random() for n in range(9)} for topic in judged}
    turned = {topic: dict(reversed(run[topic].items())) for topic in reversed(run)}
    one, other = (
        evaluate_runs(["AP"], judged, {"base": base, "run": each}, baseline="base")[1]
        for each in (run, turned)
    )
    assert one.parts[ALL].significance == other.parts[ALL].significance


def test_topics_that_a_measure_has_no_value_for_are_left_out_of_a_comparison():
    kinds = {"1": "event", "2": "event", "3": "event", "4": "opinion"}
    runs = {"base": {**GOOD, "4": {}}, "run": FAIR}
    (_, run) = evaluate_runs(["Accuracy"], QRELS, runs, kinds=kinds, baseline="base")
    assert run.parts[ALL].significance["Accuracy"].topics == 3
    assert "Accuracy" not in run.parts["opinion"].significance


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(UsageError, match="'tfisf' is not among the runs"):
        evaluate_runs(["AP"], QRELS, RUNS, baseline="tfisf")
    with pytest.raises(UsageError, match="can be called 'all'"):
        evaluate_runs(["AP"], QRELS, RUNS, kinds={"1": "all"})
