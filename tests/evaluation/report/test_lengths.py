import pytest

import esr
from esr.documents import Document, Located, Sentence
from esr.engines.index import Description
from esr.engines.segments.writer.folder_writer import FolderWriter
from esr.errors import UsageError
from esr.evaluation.report.lengths import build_rows, draw, measure_lengths


@pytest.fixture
def index(tmp_path):
    """Sentences s1 to s4 of one to four terms."""
    words = ["one", "one two", "one two three", "one two three four"]
    document = Document("d", tuple(Sentence(f"s{n}", text) for n, text in enumerate(words, 1)))
    FolderWriter(tmp_path / "index", Description("plain", True)).load([Located("sample", document)])
    with esr.open(str(tmp_path / "index")) as searcher:
        yield searcher.index


RUNS = {
    "long": {"t": {"s4": 3.0, "s3": 2.0, "s1": 1.0}, "u": {"s4": 1.0}},
    "short": {"t": {"s1": 3.0, "s2": 2.0}, "other": {"s4": 1.0}},
}
QRELS = {"t": {"s3": 1, "s1": 0, "gone": 1}, "u": {"s2": 2}}


def test_a_length_is_the_mean_over_the_top_of_all_judged_topics(index):
    lengths = measure_lengths(index, QRELS, RUNS, top=2)
    assert lengths.runs == {"long": pytest.approx(11 / 3), "short": 1.5}


def test_the_table_ends_with_the_collection_and_its_relevant_sentences(index):
    lengths = measure_lengths(index, QRELS, RUNS)
    assert (lengths.collection, lengths.relevant) == (2.5, 2.5)
    assert build_rows(lengths)[-2:] == [["all sentences", "2.50"], ["relevant sentences", "2.50"]]


def test_without_relevant_sentences_there_is_no_line_for_them(index):
    lengths = measure_lengths(index, {"t": {"s1": 0}}, RUNS)
    assert lengths.relevant is None
    assert [bar.get_width() for bar in draw(lengths).axes[0].patches] == list(lengths.runs.values())


def test_a_run_of_another_index_is_rejected(index):
    with pytest.raises(UsageError, match=r"run strange has sentences that the index lacks: .*'x1'"):
        measure_lengths(index, QRELS, {"strange": {"t": {"x1": 1.0}}})
