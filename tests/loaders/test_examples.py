"""The files of `examples/` hold what its README says."""

from pathlib import Path

from esr.loaders import read_documents

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOUND = [located.document for located in read_documents([str(EXAMPLES / "articles.jsonl")])]


def test_there_are_twelve_articles_of_six_to_fifteen_sentences_with_all_metadata():
    assert len({document.id for document in FOUND}) == 12
    for document in FOUND:
        assert 6 <= len(document.sentences) <= 15, document.id
        assert document.title and document.date and document.source and document.url, document.id


def test_one_reports_relief_after_an_earthquake_in_china():
    words = {"earthquake", "relief", "china"}
    texts = [" ".join(s.text.lower() for s in document.sentences) for document in FOUND]
    assert any(all(word in text for word in words) for text in texts)


def test_one_has_its_own_sentence_ids_features_and_parses():
    sentences = [s for document in FOUND for s in document.sentences]
    assert sum(not s.id.split(".")[-1].startswith("s") for s in sentences) >= 2
    assert sum(bool(s.features) for s in sentences) >= 2
    assert sum(bool(s.parse) for s in sentences) >= 2


def test_there_are_twelve_topics_of_two_to_five_words():
    topics = [line.split("\t") for line in (EXAMPLES / "topics.tsv").read_text().splitlines()]
    assert [qid for qid, _ in topics] == [str(n) for n in range(1, 13)]
    assert all(2 <= len(query.split()) <= 5 for _, query in topics)
