import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.errors import InputError, UsageError
from esr.evaluation import qrels


def test_trec_lines_are_grades_by_topic_and_sentence(file):
    path = file("1 0 a.s0 2\n2\t0\tb.s0\t0\r\n\n1 Q0 a.s1 -1\n1 0 a.s0 2\n", "qrels.gz")
    assert qrels.read(path) == {"1": {"a.s0": 2, "a.s1": -1}, "2": {"b.s0": 0}}


def test_lines_of_the_novelty_track_are_relevant_sentences(file):
    path = file("N1 XIE20010101.0001:2\nN1 XIE20010101.0001:12\nN2 NYT20010102.0002:1\n")
    assert qrels.read(path) == {
        "N1": {"XIE20010101.0001:2": 1, "XIE20010101.0001:12": 1},
        "N2": {"NYT20010102.0002:1": 1},
    }


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (" \n", "file.txt: contains no judgements"),
        ("1 0 a 1\n1 0 a\n", "file.txt:2: expected qid 0 sentence_id grade, found '1 0 a'"),
        ("1 0 a 1\n\n1 a:1\n", "file.txt:3: expected qid 0 sentence_id grade"),
        ("1 0 a 1.5\n", "file.txt:1: expected qid 0 sentence_id grade with an integer as the grade"),
        ("1 0 a 1001\n", "file.txt:1: expected a grade from -1000 to 1000"),
        ("1 0 a 1\n1 0 a 0\n", "file.txt:2: sentence a has two grades in topic 1, 1 and 0"),
        ("N1 a:1\nN1 0 a 1\n", "file.txt:2: expected qid docno:num"),
        ("N1 a:1\nN1 a1\n", "file.txt:2: expected qid docno:num, found 'N1 a1'"),
        ("N1 a:\n", "file.txt:1: expected qid docno:num"),
        (b"1 0 a 1\n1 0 \xe9 1\n", "file.txt:2: this line is not UTF-8"),
    ],
)
def test_a_bad_line_is_rejected_with_its_number(read_error, content, expected):
    assert expected in read_error(qrels.read, content)


def test_topics_without_a_relevant_sentence_are_found():
    assert qrels.without_relevant({"1": {"a": 0, "b": 1}, "2": {"a": 0, "b": -1}}) == ["2"]


class IndexOf:
    """A minimal index of these sentences."""

    def __init__(self, *ids):
        self.ids = set(ids)

    def sentences(self, ids):
        if not self.ids.issuperset(ids):
            raise UsageError("no such sentence")
        return [None] * len(ids)


def test_judged_sentences_that_the_index_lacks_are_found_in_order():
    judgements = {"1": {f"s{n}": 1 for n in range(1300)}, "2": {"s7": 0, "t": 1}}
    indexed = [f"s{n}" for n in range(1300) if n not in (0, 7, 1299)]
    assert qrels.unknown_sentences(judgements, IndexOf(*indexed)) == ["s0", "s7", "s1299", "t"]
    assert qrels.unknown_sentences(judgements, IndexOf(*indexed, "s0", "s7", "s1299", "t")) == []


WORDS = st.sampled_from(["1", "N1", "0", "a", "a:1", "-3", " ", "\t", "\n", ":"])


@settings(deadline=None)
@given(st.binary() | st.lists(WORDS).map(lambda words: " ".join(words).encode()))
def test_any_bytes_are_judgements_or_an_input_error(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "qrels"
        path.write_bytes(data)
        try:
            judgements = qrels.read(path)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert judgements and all(grades for grades in judgements.values())
