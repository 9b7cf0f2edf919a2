import pytest

from esr.evaluation import topics
from esr.evaluation.topic import Topic
from tests.evaluation.conftest import NOVELTY


def test_a_novelty_topic_has_a_type_and_documents_best_first(file):
    assert topics.read(file(NOVELTY)) == [
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
    assert topics.read(file(text)) == [Topic("303", {"title": "R&D <now>"})]


def test_a_top_ends_where_the_next_begins(file):
    text = "<top>\n<num> Number: 1\n<title> a\n<top>\n<num> Number: 2\n<title> b\n"
    assert [(topic.id, topic.query()) for topic in topics.read(file(text))] == [("1", "a"), ("2", "b")]


def test_documents_may_share_a_line(file):
    (topic,) = topics.read(file("<top><num>1<title>a\n<docs>\nd1 d2\nd1\n  3. d3\n</docs>\n</top>"))
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
    assert expected in read_error(topics.read, content)
