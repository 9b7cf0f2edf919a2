import pytest

import esr
from esr.documents import Document, Located, Sentence
from esr.engines.index import Description
from esr.engines.segments.writer.folder_writer import FolderWriter
from esr.errors import UsageError
from esr.evaluation.report.lengths import draw, lengths, rows


@pytest.fixture
def index(tmp_path):
    """Sentences s1 to s4 of one to four terms."""
    words = ["one", "one two", "one two three", "one two three four"]
    document = Document("d", tuple(Sentence(f"s{n}", text) for n, text in enumerate(words, 1)))
    FolderWriter(tmp_path / "index", Description("plain", True)).load([Located("made up", document)])
    with esr.open(str(tmp_path / "index")) as searcher:
        yield searcher.index


RUNS = {
    "long": {"t": {"s4": 3.0, "s3": 2.0, "s1": 1.0}, "u": {"s4": 1.0}},
    "short": {"t": {"s1": 3.0, "s2": 2.0}, "other": {"s4": 1.0}},
}
QRELS = {"t": {"s3": 1, "s1": 0, "gone": 1}, "u": {"s2": 2}}


def test_lengths_are_means_over_the_top_of_all_judged_topics(index):
    found = lengths(index, QRELS, RUNS, top=2)
    assert found.runs == {"long": pytest.approx(11 / 3), "short": 1.5}


def test_the_collection_and_the_relevant_sentences_that_it_holds_are_shown_beside(index):
    found = lengths(index, QRELS, RUNS)
    assert (found.collection, found.relevant) == (2.5, 2.5)
    assert rows(found)[-2:] == [["all sentences", "2.50"], ["relevant sentences", "2.50"]]


def test_nothing_relevant_is_no_line(index):
    found = lengths(index, {"t": {"s1": 0}}, RUNS)
    assert found.relevant is None
    assert [bar.get_width() for bar in draw(found).axes[0].patches] == list(found.runs.values())


def test_a_run_of_another_index_is_refused(index):
    with pytest.raises(UsageError, match=r"run strange is not of this index: .*'x1'"):
        lengths(index, QRELS, {"strange": {"t": {"x1": 1.0}}})
