import math
import tempfile
from pathlib import Path

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.batch import runs
from esr.batch.runs import choose_restrictions, read_restrictions, restrictions_from_topics
from esr.batch.topics import Topic
from esr.errors import InputError, UsageError
from esr.index.hits import Hit


def test_a_run_is_scores_by_topic_and_sentence_in_any_order(file):
    path = file("1 Q0 b 2 1.5 mine\n2 Q0 a 1 -3 mine\n\n1 Q0 a 1 2e0 mine\n", "mine.run.gz")
    run = runs.read_run(path)
    assert run == runs.Run("mine", {"1": {"b": 1.5, "a": 2.0}, "2": {"a": -3.0}})
    assert list(run.scores["1"]) == ["b", "a"]


def test_a_run_with_several_tags_or_no_line_has_no_tag(file):
    assert runs.read_run(file("1 Q0 a 1 2 x\n1 Q0 b 2 1 y\n")).tag is None
    assert runs.read_run(file("")) == runs.Run(None, {})


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
    message = read_error(runs.read_run, f"1 Q0 a 1 2 x\n\n{line}\n")
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
    ranked = runs.sort_sentences(scores)
    for rank, sentence in enumerate(ranked, 1):
        figures = ir_measures.pytrec_eval.calc_aggregate(
            [ir_measures.RR], {"1": {sentence: 1}}, {"1": dict(scores)}
        )
        assert figures[ir_measures.RR] == 1 / rank


def test_a_written_run_is_read_back(file):
    hits = [Hit("b", 2.0, None), Hit("a", 2.0, None), Hit("c", 0.1, None)]
    run = runs.read_run(file("".join(runs.format_lines("1", hits, "mine"))))
    assert list(run.scores["1"].items()) == [("b", 2.0), ("a", math.nextafter(2.0, 0)), ("c", 0.1)]


@pytest.mark.parametrize("tag", ["", "a b", " a", "a\n"])
def test_a_tag_must_be_one_word(tag):
    assert runs.check_tag("2si-mu50") == "2si-mu50"
    with pytest.raises(UsageError, match="must be one word"):
        runs.check_tag(tag)


WORDS = st.sampled_from(["1", "Q0", "a", "2", "0.5", "x", "nan", "\n", "1e999"])


@settings(deadline=None)
@given(st.binary() | st.lists(WORDS).map(lambda words: " ".join(words).encode()))
def test_any_bytes_are_a_run_or_an_input_error(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        path.write_bytes(data)
        try:
            run = runs.read_run(path)
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
