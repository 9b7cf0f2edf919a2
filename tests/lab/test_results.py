"""The results of runs: means, comparisons and tables; and the runs and topics that they are read from."""

import csv
import gzip
import json
import math
import random
import tempfile
from pathlib import Path

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.errors import InputError, UsageError
from esr.index.hits import Hit
from esr.lab import measures
from esr.lab.results import ALL, evaluate_runs, to_csv, to_json, to_table
from esr.lab.significance import compare_systems, correct_p_values
from esr.topics.restrictions import choose_restrictions, read_restrictions, restrictions_from_topics
from esr.topics.runs import Run, check_tag, format_lines, read_run, sort_sentences
from esr.topics.topic import Topic
from esr.topics.topic_files import read_topic_kinds, read_topics
from tests.lab.conftest import NOVELTY

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
        *("two", "8", "-0.4375", "-0.5853", "to", "-0.2897", "-2.47"),
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
    assert last.split() == ["two", "1", "-0.5000", "-", "-", "-", "-", "-", "-", "0", "0", "1"]


def test_a_mean_over_no_values_is_a_dash_and_null():
    results = evaluate_runs(["Accuracy"], FORMATTING_QRELS, {"one": {"1": FIRST["1"]}}, kinds=KINDS)
    data = json.loads(json.dumps(to_json(results, per_topic=True), allow_nan=False))
    assert data[0]["types"]["event"]["measures"] == {"Accuracy": 1.0}
    assert data[0]["types"]["opinion"]["measures"] == {"Accuracy": None}
    assert data[0]["topics"]["8"] == {"Accuracy": None}
    assert to_table(results).splitlines()[-1].split() == ["one", "opinion", "5", "-"]


def test_a_run_is_scores_by_topic_and_sentence_in_any_order(file):
    path = file("1 Q0 b 2 1.5 mine\n2 Q0 a 1 -3 mine\n\n1 Q0 a 1 2e0 mine\n", "mine.run.gz")
    run = read_run(path)
    assert run == Run("mine", {"1": {"b": 1.5, "a": 2.0}, "2": {"a": -3.0}})
    assert list(run.scores["1"]) == ["b", "a"]


def test_a_run_with_several_tags_or_no_line_has_no_tag(file):
    assert read_run(file("1 Q0 a 1 2 x\n1 Q0 b 2 1 y\n")).tag is None
    assert read_run(file("")) == Run(None, {})


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1 Q0 b 2 1", "expected qid Q0 sentence_id rank score tag, found '1 Q0 b 2 1'"),
        ("1 Q0 b 2 1 my run", "expected qid Q0 sentence_id rank score tag"),
        ("1 Q0 b 2 high x", "with a number as the score"),
        ("1 Q0 b 2 nan x", "with a number as the score"),
        ("1 Q0 a 2 1 x", "sentence a is duplicated in topic 1"),
    ],
)
def test_a_bad_line_is_rejected_with_its_number(read_error, line, expected):
    message = read_error(read_run, f"1 Q0 a 1 2 x\n\n{line}\n")
    assert message.startswith("file.txt:3: ")
    assert expected in message


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text("abé𝄞Z9", min_size=1, max_size=3),
        st.sampled_from([1.0, 1 + 1e-9, 1 + 1e-6, 1e300, -1e300, math.inf, 0.0, -0.0]),
        min_size=1,
    )
)
def test_sentences_are_sorted_as_trec_eval_sorts_them(scores):
    ranked = sort_sentences(scores)
    for rank, sentence in enumerate(ranked, 1):
        figures = ir_measures.pytrec_eval.calc_aggregate(
            [ir_measures.RR], {"1": {sentence: 1}}, {"1": dict(scores)}
        )
        assert figures[ir_measures.RR] == 1 / rank


def test_a_written_run_is_read_back(file):
    hits = [Hit("b", 2.0, None), Hit("a", 2.0, None), Hit("c", 0.1, None)]
    run = read_run(file("".join(format_lines("1", hits, "mine"))))
    assert list(run.scores["1"].items()) == [("b", 2.0), ("a", math.nextafter(2.0, 0)), ("c", 0.1)]


@pytest.mark.parametrize("tag", ["", "a b", " a", "a\n"])
def test_a_tag_must_be_one_word(tag):
    assert check_tag("2si-mu50") == "2si-mu50"
    with pytest.raises(UsageError, match="must be one word"):
        check_tag(tag)


WORDS = st.sampled_from(["1", "Q0", "a", "2", "0.5", "x", "nan", "\n", "1e999"])


@settings(deadline=None)
@given(st.binary() | st.lists(WORDS).map(lambda words: " ".join(words).encode()))
def test_any_bytes_are_a_run_or_an_input_error(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        path.write_bytes(data)
        try:
            run = read_run(path)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert all(scores for scores in run.scores.values())


def test_documents_of_a_topic_keep_their_order_without_duplicates(file):
    path = file("1\tb\n2\tc\n\n1\ta\n1\tb\n")
    assert read_restrictions(path) == {"1": ("b", "a"), "2": ("c",)}


@pytest.mark.parametrize("line", ["1 b", "1\t", "\tb", "1\tb c"])
def test_a_line_without_a_document_is_rejected(read_error, line):
    assert "file.txt:2: expected qid<TAB>document id" in read_error(read_restrictions, f"1\ta\n{line}\n")


def test_a_file_without_documents_is_rejected(read_error):
    assert "file.txt: contains no documents" in read_error(read_restrictions, "\n")


def test_topics_may_list_their_documents():
    topics = [Topic("1", {}, documents=("b", "a")), Topic("2", {})]
    assert restrictions_from_topics(topics) == {"1": ("b", "a")}
    with pytest.raises(UsageError, match="no topic names documents"):
        restrictions_from_topics(topics[1:])


def test_the_word_topics_chooses_what_the_topics_list_and_anything_else_is_a_file(file):
    topics = [Topic("1", {}, documents=("b",))]
    assert choose_restrictions("topics", topics) == {"1": ("b",)}
    assert choose_restrictions(file("2\tc\n"), topics) == {"2": ("c",)}
    assert choose_restrictions(None, topics) is None


def test_lines_with_an_id_a_tab_and_a_query_are_topics(file):
    path = file("\ufeff7\tharbour strike\r\n\r\nq-2\ttoll\ton the bridge \n")
    assert read_topics(path) == [
        Topic("7", {"title": "harbour strike"}),
        Topic("q-2", {"title": "toll\ton the bridge"}),
    ]


def test_a_compressed_file_is_read_whatever_its_name(file):
    assert read_topics(file("1\tstrike\n", "topics.tsv.gz")) == [Topic("1", {"title": "strike"})]
    assert read_topics(file(gzip.compress(b"1\tstrike\n"), "topics")) == [Topic("1", {"title": "strike"})]


@pytest.mark.parametrize("id", ["id", "qid", "topic_id", "query_id", "_id"])
@pytest.mark.parametrize("text", ["title", "query", "text"])
def test_json_lines_may_use_several_key_names(file, id, text):
    assert read_topics(file(json.dumps({id: 4, text: " toll  on "}))) == [Topic("4", {"title": "toll on"})]


def test_json_lines_have_all_fields_of_a_topic(file):
    line = {
        "id": "N1",
        "title": "strike",
        "description": "The strike.",
        "narrative": "All of it.",
        "type": "Event",
        "documents": ["b", "a", "b"],
    }
    fields = {"title": "strike", "desc": "The strike.", "narr": "All of it."}
    assert read_topics(file(json.dumps(line) + "\n\n")) == [Topic("N1", fields, "event", ("b", "a"))]


def test_novelty_topics_are_recognised_by_their_first_tag(file):
    assert [(topic.id, topic.kind) for topic in read_topics(file("\n" + NOVELTY))] == [
        ("N1", "event"),
        ("N2", "opinion"),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "file.txt: contains no topics"),
        ("1\ta\nstrike\n", "file.txt:2: expected qid<TAB>query, found 'strike'"),
        ("1\ta\n\n1 2\tb\n", "file.txt:3: expected qid<TAB>query"),
        ("1\ta\n\n1\tb\n", "file.txt:3: topic '1' is duplicated"),
        ('{"id": "1", "title": "a"}\n{"id": "1", "title": "b"}', "file.txt:2: topic '1' is duplicated"),
        ('{"id": "1", "title": "a"}\n{"id": "2", "tit', "file.txt:2: expected one topic"),
        ('{"id": "1", "title": "a"}\n[1]', "file.txt:2: expected one topic"),
        ('{"title": "a"}', "file.txt:1: the topic's id must be one word, not None"),
        ('{"id": "a b", "title": "a"}', "file.txt:1: the topic's id must be one word, not 'a b'"),
        ('{"id": "\\ud800", "title": "a"}', "file.txt:1: the topic's id must be one word"),
        ('{"id": "a", "title": ["a"]}', "file.txt:1: 'title' must be a string, not"),
        ('{"id": "a", "documents": "d1"}', 'file.txt:1: "documents" must be a list of document ids'),
        ("1\ta\n2\t\0\n", "file.txt:2: this line contains a zero byte"),
        (b"1\ta\n2\t\xff\n", "file.txt:2: this line is not UTF-8"),
        (b"\x1f\x8b\x08rest", "file.txt: cannot be unpacked"),
        ("<topics>\n<title> a\n", "file.txt:2: this <title> needs a <top> before it"),
    ],
)
def test_an_error_names_the_file_and_the_line(read_error, content, expected):
    assert expected in read_error(read_topics, content)


def test_a_missing_file_is_rejected(tmp_path):
    with pytest.raises(InputError, match="none: cannot be read: No such file"):
        read_topics(tmp_path / "none")


def test_the_query_is_the_title_unless_other_fields_are_named():
    topic = Topic("1", {"title": "toll", "desc": "What people think."})
    assert topic.query() == "toll"
    assert topic.query("desc+title") == "What people think. toll"
    assert topic.query("title+narr") == "toll"
    with pytest.raises(UsageError, match="topic 1 has no narr: it has title, desc"):
        topic.query("narr")
    with pytest.raises(UsageError, match="did you mean 'title'"):
        topic.query("titel")


def test_types_come_from_lines_or_from_topics(file):
    assert read_topic_kinds(file("N1\tevent\nN2\tOpinion\nN1\tEvent\n")) == {
        "N1": "event",
        "N2": "opinion",
    }
    assert read_topic_kinds(file(NOVELTY)) == {"N1": "event", "N2": "opinion"}


def test_missing_or_conflicting_types_are_rejected(file, read_error):
    assert "file.txt:2: topic 'N1' has two types" in read_error(read_topic_kinds, "N1\tevent\nN1\topinion\n")
    assert "file.txt:1: topic 'N1' has no type" in read_error(read_topic_kinds, "N1\t\n")
    with pytest.raises(UsageError, match="contains no types of topics"):
        read_topic_kinds(file('{"id": "1", "title": "a"}'))


PIECES = st.sampled_from(
    [
        "<top>",
        "</top>",
        "<num>",
        "Number: 1",
        "<title>",
        "<docs>",
        "<x>",
        "<",
        ">",
        '{"id":',
        '"1"',
        "}",
        "1\t",
    ]
)


@settings(deadline=None)
@given(st.binary() | st.lists(PIECES | st.text(max_size=5)).map(lambda parts: "".join(parts).encode()))
def test_any_bytes_are_topics_or_an_input_error(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "topics"
        path.write_bytes(data)
        try:
            read = read_topics(path)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert read and all(topic.id.split() == [topic.id] for topic in read)


def test_a_novelty_topic_has_a_type_and_documents_best_first(file):
    assert read_topics(file(NOVELTY)) == [
        Topic(
            "N1",
            {
                "title": "harbour strike",
                "desc": "The dockers' strike in the harbour of Nowhere.",
                "narr": "Relevant sentences tell of <b>the strike</b>, its causes & its end.",
            },
            "event",
            ("XIE20010101.0001", "NYT20010102.0002", "APW20010103.0003"),
        ),
        Topic(
            "N2",
            {
                "title": "toll on the bridge",
                "desc": "What people think of the toll.",
                "narr": "Facts alone are not relevant.",
            },
            "opinion",
            ("XIE20010104.0004", "XIE20010101.0001"),
        ),
    ]


def test_closing_tags_entities_and_capitals_are_accepted(file):
    text = "<TOP><NUM>303</NUM><TITLE>Topic: R&amp;D &lt;now&gt;</TITLE>\n<con>1. left out\n</TOP>\n"
    assert read_topics(file(text)) == [Topic("303", {"title": "R&D <now>"})]


def test_a_label_is_left_out_at_the_start_of_a_field_only(file):
    text = "<top>\n<num> Number: 1\n<title> Hot topic: health\n<desc> Description:\nA new type: b\n</top>\n"
    fields = {"title": "Hot topic: health", "desc": "A new type: b"}
    assert read_topics(file(text)) == [Topic("1", fields)]


def test_a_top_ends_where_the_next_begins(file):
    text = "<top>\n<num> Number: 1\n<title> a\n<top>\n<num> Number: 2\n<title> b\n"
    assert [(topic.id, topic.query()) for topic in read_topics(file(text))] == [("1", "a"), ("2", "b")]


def test_documents_may_share_a_line(file):
    (topic,) = read_topics(file("<top><num>1<title>a\n<docs>\nd1 d2\nd1\n  3. d3\n</docs>\n</top>"))
    assert topic.documents == ("d1", "d2", "d3")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("\n<top>\n<title> a\n</top>", "file.txt:2: this <top> has no <num>"),
        (
            "<top>\n<num> 1\n<title> a\n\n<num> 2\n</top>",
            "file.txt:1: this <top> has two <num>: add the missing <top> between them",
        ),
        ("<top>\n<num> Number: 1 and 2\n", "file.txt:1: the topic's number must be one word, not '1 and 2'"),
        ("<top><num>1</top>\n\n<top><num>1</top>", "file.txt:3: topic '1' is duplicated"),
        ("<top><num>1</top>\n\n<num>2", "file.txt:3: this <num> needs a <top> before it"),
        ("<xml>nothing</xml>", "file.txt: contains no topics"),
    ],
)
def test_a_malformed_topic_is_rejected_with_its_line(read_error, content, expected):
    assert expected in read_error(read_topics, content)
