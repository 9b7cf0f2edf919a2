import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.errors import InputError, UsageError
from esr.evaluation import topics
from esr.evaluation.topic import Topic
from tests.evaluation.conftest import NOVELTY


def test_lines_with_an_id_a_tab_and_a_query_are_topics(file):
    path = file("\ufeff7\tharbour strike\r\n\r\nq-2\ttoll\ton the bridge \n")
    assert topics.read(path) == [
        Topic("7", {"title": "harbour strike"}),
        Topic("q-2", {"title": "toll\ton the bridge"}),
    ]


def test_a_compressed_file_is_read_whatever_its_name(file):
    assert topics.read(file("1\tstrike\n", "topics.tsv.gz")) == [Topic("1", {"title": "strike"})]
    assert topics.read(file(gzip.compress(b"1\tstrike\n"), "topics")) == [Topic("1", {"title": "strike"})]


@pytest.mark.parametrize("id", ["id", "qid", "topic_id", "query_id", "_id"])
@pytest.mark.parametrize("text", ["title", "query", "text"])
def test_json_lines_may_use_several_key_names(file, id, text):
    assert topics.read(file(json.dumps({id: 4, text: " toll  on "}))) == [Topic("4", {"title": "toll on"})]


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
    assert topics.read(file(json.dumps(line) + "\n\n")) == [Topic("N1", fields, "event", ("b", "a"))]


def test_novelty_topics_are_recognised_by_their_first_tag(file):
    assert [(topic.id, topic.kind) for topic in topics.read(file("\n" + NOVELTY))] == [
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
    assert expected in read_error(topics.read, content)


def test_a_missing_file_is_rejected(tmp_path):
    with pytest.raises(InputError, match="none: cannot be read: No such file"):
        topics.read(tmp_path / "none")


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
    assert topics.read_kinds(file("N1\tevent\nN2\tOpinion\nN1\tEvent\n")) == {"N1": "event", "N2": "opinion"}
    assert topics.read_kinds(file(NOVELTY)) == {"N1": "event", "N2": "opinion"}


def test_missing_or_conflicting_types_are_rejected(file, read_error):
    assert "file.txt:2: topic 'N1' has two types" in read_error(topics.read_kinds, "N1\tevent\nN1\topinion\n")
    assert "file.txt:1: topic 'N1' has no type" in read_error(topics.read_kinds, "N1\t\n")
    with pytest.raises(UsageError, match="contains no types of topics"):
        topics.read_kinds(file('{"id": "1", "title": "a"}'))


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
            read = topics.read(path)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert read and all(topic.id.split() == [topic.id] for topic in read)
