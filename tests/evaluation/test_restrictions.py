import pytest

from esr.errors import UsageError
from esr.evaluation import restrictions
from esr.evaluation.topic import Topic


def test_documents_of_a_topic_keep_their_order_without_duplicates(file):
    path = file("1\tb\n2\tc\n\n1\ta\n1\tb\n")
    assert restrictions.read(path) == {"1": ("b", "a"), "2": ("c",)}


@pytest.mark.parametrize("line", ["1 b", "1\t", "\tb", "1\tb c"])
def test_a_line_without_a_document_is_rejected(read_error, line):
    assert "file.txt:2: expected qid<TAB>document id" in read_error(restrictions.read, f"1\ta\n{line}\n")


def test_a_file_without_documents_is_rejected(read_error):
    assert "file.txt: contains no documents" in read_error(restrictions.read, "\n")


def test_topics_may_list_their_documents():
    topics = [Topic("1", {}, documents=("b", "a")), Topic("2", {})]
    assert restrictions.from_topics(topics) == {"1": ("b", "a")}
    with pytest.raises(UsageError, match="no topic names documents"):
        restrictions.from_topics(topics[1:])


def test_the_word_topics_chooses_what_the_topics_list_and_anything_else_is_a_file(file):
    topics = [Topic("1", {}, documents=("b",))]
    assert restrictions.choose("topics", topics) == {"1": ("b",)}
    assert restrictions.choose(file("2\tc\n"), topics) == {"2": ("c",)}
    assert restrictions.choose(None, topics) is None
