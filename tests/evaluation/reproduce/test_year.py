import pytest

from esr.errors import InputError, UsageError
from esr.evaluation.reproduce import raw
from esr.evaluation.reproduce.year import load
from tests.evaluation.reproduce import miniature


def load_year(data, work, year):
    return load(next(files for files in raw.find(data).years if files.year == year), work)


@pytest.mark.parametrize("year", raw.YEARS)
def test_a_topic_ranks_the_sentences_of_its_own_documents(years, year):
    for topic in miniature.topics(year):
        assert years[year].allowed[topic.id] == tuple(topic.documents)
        ids = [f"{s.document}:{s.number}" for s in topic.sentences]
        assert sorted(years[year].sentences(topic.id)) == sorted(ids)
        assert list(years[year].qrels[topic.id]) == topic.relevant


@pytest.mark.parametrize("year", ["2003", "2004"])
def test_documents_that_topics_do_not_list_come_from_the_files_of_the_topics(tmp_path, years, year):
    miniature.write(tmp_path / "data", (year,))
    topics = next((tmp_path / "data").rglob("*topics.txt"))
    topics.write_text(
        "".join(
            line for line in topics.read_text().splitlines(True) if not line.startswith(("<docs>", "XIE"))
        )
    )
    assert load_year(tmp_path / "data", tmp_path / "work", year).allowed == years[year].allowed


def test_consistent_data_give_no_findings_but_the_shared_document(years):
    for year in years.values():
        assert year.findings.repeated_documents == 1
        for name in ("unknown_sentences", "outside_of_topic", "missing_documents", "conflicting_sentences"):
            assert getattr(year.findings, name) == []
        assert not year.findings.unjudged_topics + year.findings.judged_without_topic


def test_inconsistencies_are_listed(tmp_path):
    data = miniature.write(tmp_path / "data", ("2003",))
    qrels = next(data.rglob("qrels.relevant.03.txt"))
    first, second = (topic.documents for topic in miniature.topics("2003")[:2])
    remaining = [line for line in qrels.read_text().splitlines(True) if not line.startswith("N3 ")]
    added = ["N1 NOWHERE:1\n", f"N1 {first[0]}:99\n", f"N1 {second[1]}:1\n", f"N9 {first[0]}:1\n"]
    qrels.write_text("".join(remaining + added))
    topics = next(data.rglob("03.novelty.topics.txt"))
    topics.write_text(topics.read_text().replace("<docs>\n", "<docs>\nNOWHERE\n", 1))
    findings = load_year(data, tmp_path / "work", "2003").findings
    assert findings.unknown_sentences == ["NOWHERE:1", f"{first[0]}:99"]
    assert findings.outside_of_topic == [f"N1 {second[1]}:1"]
    assert findings.missing_documents == ["NOWHERE"]
    assert findings.unjudged_topics == ["N3"]
    assert findings.judged_without_topic == ["N9"]


def test_relevant_sentences_that_the_archive_lacks_count_as_missed(tmp_path, years):
    data = miniature.write(tmp_path / "data", ("2003",))
    with next(data.rglob("qrels.relevant.03.txt")).open("a") as qrels:
        qrels.write("N1 NOWHERE:1\n")
    year = load_year(data, tmp_path / "work", "2003")
    assert len(year.tasks[0].relevant) == len(years["2003"].tasks[0].relevant) + 1


def test_topics_of_another_collection_are_rejected(tmp_path):
    data = miniature.write(tmp_path / "data", ("2003",))
    topics = next(data.rglob("03.novelty.topics.txt"))
    topics.write_text(topics.read_text().replace("XIE2003", "APW1990").replace("Number: N", "Number: Z9"))
    with pytest.raises(InputError, match="names no document of the archive"):
        load_year(data, tmp_path / "work", "2003")
    next(data.rglob("qrels.relevant.03.txt")).write_text("Z1 a:1\n")
    miniature.write(data, ("2003",))
    next(data.rglob("qrels.relevant.03.txt")).write_text("Z1 a:1\n")
    with pytest.raises(UsageError, match="no topic has a sentence judged relevant"):
        load_year(data, tmp_path / "work", "2003")
