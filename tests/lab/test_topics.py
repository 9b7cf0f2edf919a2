import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.batch import topics
from esr.batch.topics import Topic
from esr.errors import InputError, UsageError
from tests.lab.conftest import NOVELTY


def test_lines_with_an_id_a_tab_and_a_query_are_topics(file):
    path = file("\ufeff7\tharbour strike\r\n\r\nq-2\ttoll\ton the bridge \n")
    assert topics.read_topics(path) == [
        Topic("7", {"title": "harbour strike"}),
        Topic("q-2", {"title": "toll\ton the bridge"}),
    ]


def test_a_compressed_file_is_read_whatever_its_name(file):
    assert topics.read_topics(file("1\tstrike\n", "topics.tsv.gz")) == [Topic("1", {"title": "strike"})]
    assert topics.read_topics(file(gzip.compress(b"1\tstrike\n"), "topics")) == [
        Topic("1", {"title": "strike"})
    ]


@pytest.mark.parametrize("id", ["id", "qid", "topic_id", "query_id", "_id"])
@pytest.mark.parametrize("text", ["title", "query", "text"])
def test_json_lines_may_use_several_key_names(file, id, text):
    assert topics.read_topics(file(json.dumps({id: 4, text: " toll  on "}))) == [
        Topic("4", {"title": "toll on"})
    ]


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
    assert topics.read_topics(file(json.dumps(line) + "\n\n")) == [Topic("N1", fields, "event", ("b", "a"))]


def test_novelty_topics_are_recognised_by_their_first_tag(file):
    assert [(topic.id, topic.kind) for topic in topics.read_topics(file("\n" + NOVELTY))] == [
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
    assert expected in read_error(topics.read_topics, content)


def test_a_missing_file_is_rejected(tmp_path):
    with pytest.raises(InputError, match="none: cannot be read: No such file"):
        topics.read_topics(tmp_path / "none")


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
    assert topics.read_topic_kinds(file("N1\tevent\nN2\tOpinion\nN1\tEvent\n")) == {
        "N1": "event",
        "N2": "opinion",
    }
    assert topics.read_topic_kinds(file(NOVELTY)) == {"N1": "event", "N2": "opinion"}


def test_missing_or_conflicting_types_are_rejected(file, read_error):
    assert "file.txt:2: topic 'N1' has two types" in read_error(
        topics.read_topic_kinds, "N1\tevent\nN1\topinion\n"
    )
    assert "file.txt:1: topic 'N1' has no type" in read_error(topics.read_topic_kinds, "N1\t\n")
    with pytest.raises(UsageError, match="contains no types of topics"):
        topics.read_topic_kinds(file('{"id": "1", "title": "a"}'))


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
            read = topics.read_topics(path)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert read and all(topic.id.split() == [topic.id] for topic in read)


def test_a_novelty_topic_has_a_type_and_documents_best_first(file):
    assert topics.read_topics(file(NOVELTY)) == [
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
    assert topics.read_topics(file(text)) == [Topic("303", {"title": "R&D <now>"})]


def test_a_top_ends_where_the_next_begins(file):
    text = "<top>\n<num> Number: 1\n<title> a\n<top>\n<num> Number: 2\n<title> b\n"
    assert [(topic.id, topic.query()) for topic in topics.read_topics(file(text))] == [("1", "a"), ("2", "b")]


def test_documents_may_share_a_line(file):
    (topic,) = topics.read_topics(file("<top><num>1<title>a\n<docs>\nd1 d2\nd1\n  3. d3\n</docs>\n</top>"))
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
    assert expected in read_error(topics.read_topics, content)
