import csv
import json

from esr.evaluation import formatting
from esr.evaluation.results import evaluate_runs

TOPICS = [f"{n}" for n in range(1, 9)]
QRELS = {topic: {"a": 1} for topic in TOPICS}
FIRST = {topic: {"a": 2.0, "b": 1.0} for topic in TOPICS}
SECOND = {topic: {"a": 0.5 if int(topic) % 8 else 2.0, "b": 1.0} for topic in TOPICS}
KINDS = {topic: "event" if int(topic) < 4 else "opinion" for topic in TOPICS}


def evaluate(**options):
    return evaluate_runs(["AP", "P@1"], QRELS, {"one": FIRST, "two": SECOND}, resamples=500, **options)


def test_a_table_has_a_row_for_each_run():
    assert formatting.to_table(evaluate()).splitlines() == [
        "run  topics        AP       P@1",
        "one       8  1.0000    1.0000",
        "two       8  0.5625    0.1250",
    ]


def test_a_table_marks_differences_from_the_baseline():
    table = formatting.to_table(evaluate(baseline="one"))
    assert "two       8  0.5625**  0.1250**" in table
    assert "* differs from one at 95 %, ** at 99 %: paired two-sided t-test\n" in table
    rows = {line.split()[0]: line.split() for line in table.split("\n\n")[2].splitlines()}
    assert rows["two"] == [
        *("two", "8", "-0.4375", "-0.5853", "to", "-0.2897"),
        *("0.0002", "0.0002", "0.0156", "0.0156", "0", "1", "7"),
    ]


def test_a_table_has_rows_for_types_and_for_topics():
    table = formatting.to_table(evaluate(kinds=KINDS), per_topic=True)
    assert table.startswith("AP     one     two\n1   1.0000  0.5000\n")
    assert "two  opinion       5  0.6000    0.2000" in table


def test_csv_has_a_line_for_each_figure_in_full_precision():
    results = evaluate(baseline="one", kinds=KINDS)
    rows = list(csv.DictReader(formatting.to_csv(results, per_topic=True).splitlines()))
    assert len(rows) == 2 * 2 * (8 + 3)
    (row,) = [
        row
        for row in rows
        if (row["run"], row["type"], row["topic"], row["measure"]) == ("two", "opinion", "all", "AP")
    ]
    group = results[1].groups["opinion"]
    assert float(row["value"]) == group.means["AP"]
    assert float(row["t_test_holm"]) == group.significance["AP"].t_test_holm
    assert formatting.to_csv(evaluate()).splitlines()[:2] == [
        "run,type,topic,measure,value",
        "one,all,all,AP,1.0",
    ]


def test_json_has_the_requested_figures():
    assert formatting.to_json(evaluate()) == [
        {"run": "one", "measures": {"AP": 1.0, "P@1": 1.0}},
        {"run": "two", "measures": {"AP": 0.5625, "P@1": 0.125}},
    ]
    baseline, other = formatting.to_json(evaluate(baseline="one", kinds=KINDS), per_topic=True)
    assert baseline["baseline"] is True
    assert other["topics"]["8"] == {"AP": 1.0, "P@1": 1.0}
    assert other["types"]["event"]["count"] == 3
    assert other["types"]["event"]["measures"] == {"AP": 0.5, "P@1": 0.0}
    assert other["significance"]["AP"]["losses"] == 7
    assert other["types"]["opinion"]["significance"]["AP"]["losses"] == 4


def test_statistics_undefined_for_one_topic_are_a_dash_and_null():
    results = evaluate_runs(["AP"], {"1": {"a": 1}}, {"one": FIRST, "two": SECOND}, baseline="one")
    data = json.loads(json.dumps(formatting.to_json(results), allow_nan=False))
    assert data[1]["significance"]["AP"]["t_test_holm"] is None
    last = formatting.to_table(results).splitlines()[-1]
    assert last.split() == ["two", "1", "-0.5000", "-", "-", "-", "-", "-", "0", "0", "1"]


def test_a_mean_over_no_values_is_a_dash_and_null():
    results = evaluate_runs(["Accuracy"], QRELS, {"one": {"1": FIRST["1"]}}, kinds=KINDS)
    data = json.loads(json.dumps(formatting.to_json(results, per_topic=True), allow_nan=False))
    assert data[0]["types"]["event"]["measures"] == {"Accuracy": 1.0}
    assert data[0]["types"]["opinion"]["measures"] == {"Accuracy": None}
    assert data[0]["topics"]["8"] == {"Accuracy": None}
    assert formatting.to_table(results).splitlines()[-1].split() == ["one", "opinion", "5", "-"]
