import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest

from esr.errors import EsrError, InputError, UsageError
from esr.lab.reproduce.data import YEARS, find_raw_files, load, read_corpus, unpack
from tests.lab.reproduce import miniature
from tests.lab.reproduce.miniature import pack


def line(document, number, text):
    return f'<s docid="{document}" num="{number}"> {text}</s>\n'


def read(folder, **files):
    for name, text in files.items():
        (folder / name).write_text(text)
    return read_corpus(folder, [Path(name) for name in files])


def test_a_document_in_several_files_is_stored_once(tmp_path):
    archive = read(tmp_path, one=line("A", 1, "x") + line("B", 1, "y"), two=line("A", 1, "x"))
    assert list(archive.documents) == ["A", "B"]
    assert archive.files == {Path("one"): ("A", "B"), Path("two"): ("A",)}
    assert (archive.repeated, archive.conflicts) == (1, [])


def test_sentences_that_only_a_later_file_has_are_added(tmp_path):
    archive = read(tmp_path, one=line("A", 1, "x"), two=line("A", 1, "x") + line("A", 2, "y"))
    assert [s.id for s in archive.documents["A"].sentences] == ["A:1", "A:2"]


def test_a_sentence_with_two_texts_keeps_the_first_and_is_listed(tmp_path):
    archive = read(tmp_path, one=line("A", 1, "first"), two=line("A", 1, "second"))
    assert archive.documents["A"].sentences[0].text == "first"
    assert archive.conflicts == ["A:1"]


def test_empty_files_are_skipped_and_an_empty_archive_is_rejected(tmp_path):
    assert list(read(tmp_path, empty="", one=line("A", 1, "x")).documents) == ["A"]
    with pytest.raises(InputError, match="the archive has no sentence"):
        read(tmp_path, empty="")


def test_the_files_are_found_anywhere_below_the_folder(tmp_path):
    miniature.write(tmp_path / "a" / "b")
    available = find_raw_files(tmp_path)
    assert [files.year for files in available.years] == ["2002", "2003", "2004"]
    assert available.absent == []
    assert available.years[1].archive == tmp_path / "a/b/novelty2003/documents.tar.gz"
    assert available.years[2].qrels.name == "04.qrels.relevant"


def test_a_year_without_any_file_is_left_out(tmp_path):
    miniature.write(tmp_path, ("2002", "2004"))
    assert find_raw_files(tmp_path).absent == ["2003"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("min_qrels.relevant", "the files of 2002 are incomplete: add min_qrels.relevant (judgements)"),
        ("documents.tar.gz", "the files of 2003 are incomplete: add documents.tar.gz (documents)"),
        ("novelty04.topics.txt", "the files of 2004 are incomplete: add novelty04.topics.txt (topics)"),
    ],
)
def test_a_missing_file_is_named(tmp_path, name, problem):
    miniature.write(tmp_path)
    next(tmp_path.rglob(name)).unlink()
    with pytest.raises(InputError) as error:
        find_raw_files(tmp_path)
    assert error.value.problem == problem


def test_two_files_with_the_same_name_are_rejected(tmp_path):
    miniature.write(tmp_path)
    (tmp_path / "documents.tar.gz").write_bytes(b"")
    with pytest.raises(InputError, match=r"two files named documents.tar.gz"):
        find_raw_files(tmp_path)


def test_a_folder_without_any_of_the_files_is_rejected_with_their_names(tmp_path):
    with pytest.raises(InputError, match=r"2004: novelty04.topics.txt, 04docs.tar.gz, 04.qrels.relevant"):
        find_raw_files(tmp_path)
    with pytest.raises(InputError, match="there is no such folder"):
        find_raw_files(tmp_path / "none")


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "a.tar.gz"
    pack(path, {"b/one.txt": b"one", "a.txt": b"caf\xe9", "u.txt": "café".encode(), "b/._one.txt": b"hidden"})
    return path


def test_files_are_unpacked_in_order_as_utf8(archive, tmp_path):
    assert unpack(archive, tmp_path / "out") == [Path("a.txt"), Path("b/one.txt"), Path("u.txt")]
    assert (
        (tmp_path / "out/a.txt").read_text("utf-8") == (tmp_path / "out/u.txt").read_text("utf-8") == "café"
    )


@pytest.mark.parametrize("name", ["../outside.txt", "a/../../outside.txt", "/tmp/esr-outside.txt", "..\\x"])
def test_a_path_outside_of_the_folder_is_rejected_and_nothing_remains(tmp_path, name):
    pack(tmp_path / "a.tar.gz", {"good.txt": b"good", name: b"bad"})
    with pytest.raises(InputError, match="is a path outside of the folder"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "out" / "here")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["a.tar.gz"]
    assert not Path("/tmp/esr-outside.txt").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_rejected(tmp_path, kind):
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        pack_file = tarfile.TarInfo("a")
        tar.addfile(pack_file, io.BytesIO())
        info = tarfile.TarInfo("link")
        info.type, info.linkname = kind, "a"
        tar.addfile(info)
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(plain.getvalue()))
    with pytest.raises(InputError, match="'link' is a link or a device"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "out")


def test_unpacked_files_are_reused_until_the_archive_changes(archive, tmp_path):
    unpack(archive, tmp_path / "out")
    (tmp_path / "out/a.txt").write_text("reused")
    unpack(archive, tmp_path / "out")
    assert (tmp_path / "out/a.txt").read_text() == "reused"
    pack(archive, {"a.txt": b"new"})
    os.utime(archive, ns=(1, 1))
    assert unpack(archive, tmp_path / "out") == [Path("a.txt")]
    assert (tmp_path / "out/a.txt").read_text() == "new"


def test_a_truncated_archive_leaves_nothing_behind(archive, tmp_path):
    archive.write_bytes(archive.read_bytes()[:-40])
    with pytest.raises(InputError, match="may be truncated"):
        unpack(archive, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.gz"]


def test_an_archive_that_unpacks_to_too_many_bytes_is_rejected(tmp_path):
    pack(tmp_path / "a.tar.gz", {"a": b"0" * 1000, "b": b"0" * 1000})
    with pytest.raises(InputError, match="more than 1,500 bytes"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "out", max_bytes=1500)


def test_a_folder_that_esr_did_not_create_is_not_removed(archive, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")
    with pytest.raises(EsrError, match="esr did not create it"):
        unpack(archive, tmp_path / "out")
    assert (tmp_path / "out/mine.txt").read_text() == "mine"


def load_year(data, work, year):
    return load(next(files for files in find_raw_files(data).years if files.year == year), work)


@pytest.mark.parametrize("year", YEARS)
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
