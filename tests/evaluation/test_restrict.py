import pytest

from esr.errors import UsageError
from esr.evaluation import restrict
from esr.evaluation.topic import Topic


def test_documents_of_a_topic_keep_their_order_and_stand_once(file):
    path = file("1\tb\n2\tc\n\n1\ta\n1\tb\n")
    assert restrict.read(path) == {"1": ("b", "a"), "2": ("c",)}


@pytest.mark.parametrize("line", ["1 b", "1\t", "\tb", "1\tb c"])
def test_a_line_that_names_no_document_is_refused(refused, line):
    assert "file.txt:2: expected qid<TAB>document id" in refused(restrict.read, f"1\ta\n{line}\n")


def test_a_file_without_documents_is_refused(refused):
    assert "file.txt: names no documents" in refused(restrict.read, "\n")


def test_topics_may_name_their_documents_themselves():
    topics = [Topic("1", {}, documents=("b", "a")), Topic("2", {})]
    assert restrict.of_topics(topics) == {"1": ("b", "a")}
    with pytest.raises(UsageError, match="no topic names documents"):
        restrict.of_topics(topics[1:])
