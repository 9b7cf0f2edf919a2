import csv
import json
import random

import pytest

from esr.errors import UsageError
from esr.lab import measures
from esr.lab.measures import compare_systems, correct_p_values
from esr.lab.results import ALL, evaluate_runs, to_csv, to_json, to_table

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


TOPICS = [f"{n}" for n in range(1, 9)]
FORMATTING_QRELS = {topic: {"a": 1} for topic in TOPICS}
FIRST = {topic: {"a": 2.0, "b": 1.0} for topic in TOPICS}
SECOND = {topic: {"a": 0.5 if int(topic) % 8 else 2.0, "b": 1.0} for topic in TOPICS}
KINDS = {topic: "event" if int(topic) < 4 else "opinion" for topic in TOPICS}


def evaluate(**options):
    return evaluate_runs(
        ["AP", "P@1"], FORMATTING_QRELS, {"one": FIRST, "two": SECOND}, resamples=500, **options
    )


def test_a_table_has_a_row_for_each_run():
    assert to_table(evaluate()).splitlines() == [
        "run  topics        AP       P@1",
        "one       8  1.0000    1.0000",
        "two       8  0.5625    0.1250",
    ]


def test_a_table_marks_differences_from_the_baseline():
    table = to_table(evaluate(baseline="one"))
    assert "two       8  0.5625**  0.1250**" in table
    assert "* differs from one at 95 %, ** at 99 %: paired two-sided t-test\n" in table
    rows = {line.split()[0]: line.split() for line in table.split("\n\n")[2].splitlines()}
    assert rows["two"] == [
        *("two", "8", "-0.4375", "-0.5853", "to", "-0.2897"),
        *("0.0002", "0.0002", "0.0156", "0.0156", "0", "1", "7"),
    ]


def test_a_table_has_rows_for_types_and_for_topics():
    table = to_table(evaluate(kinds=KINDS), per_topic=True)
    assert table.startswith("AP     one     two\n1   1.0000  0.5000\n")
    assert "two  opinion       5  0.6000    0.2000" in table


def test_csv_has_a_line_for_each_figure_in_full_precision():
    results = evaluate(baseline="one", kinds=KINDS)
    rows = list(csv.DictReader(to_csv(results, per_topic=True).splitlines()))
    assert len(rows) == 2 * 2 * (8 + 3)
    (row,) = [
        row
        for row in rows
        if (row["run"], row["type"], row["topic"], row["measure"]) == ("two", "opinion", "all", "AP")
    ]
    group = results[1].groups["opinion"]
    assert float(row["value"]) == group.means["AP"]
    assert float(row["t_test_holm"]) == group.significance["AP"].t_test_holm
    assert to_csv(evaluate()).splitlines()[:2] == [
        "run,type,topic,measure,value",
        "one,all,all,AP,1.0",
    ]


def test_json_has_the_requested_figures():
    assert to_json(evaluate()) == [
        {"run": "one", "measures": {"AP": 1.0, "P@1": 1.0}},
        {"run": "two", "measures": {"AP": 0.5625, "P@1": 0.125}},
    ]
    baseline, other = to_json(evaluate(baseline="one", kinds=KINDS), per_topic=True)
    assert baseline["baseline"] is True
    assert other["topics"]["8"] == {"AP": 1.0, "P@1": 1.0}
    assert other["types"]["event"]["count"] == 3
    assert other["types"]["event"]["measures"] == {"AP": 0.5, "P@1": 0.0}
    assert other["significance"]["AP"]["losses"] == 7
    assert other["types"]["opinion"]["significance"]["AP"]["losses"] == 4


def test_statistics_undefined_for_one_topic_are_a_dash_and_null():
    results = evaluate_runs(["AP"], {"1": {"a": 1}}, {"one": FIRST, "two": SECOND}, baseline="one")
    data = json.loads(json.dumps(to_json(results), allow_nan=False))
    assert data[1]["significance"]["AP"]["t_test_holm"] is None
    last = to_table(results).splitlines()[-1]
    assert last.split() == ["two", "1", "-0.5000", "-", "-", "-", "-", "-", "0", "0", "1"]


def test_a_mean_over_no_values_is_a_dash_and_null():
    results = evaluate_runs(["Accuracy"], FORMATTING_QRELS, {"one": {"1": FIRST["1"]}}, kinds=KINDS)
    data = json.loads(json.dumps(to_json(results, per_topic=True), allow_nan=False))
    assert data[0]["types"]["event"]["measures"] == {"Accuracy": 1.0}
    assert data[0]["types"]["opinion"]["measures"] == {"Accuracy": None}
    assert data[0]["topics"]["8"] == {"Accuracy": None}
    assert to_table(results).splitlines()[-1].split() == ["one", "opinion", "5", "-"]
