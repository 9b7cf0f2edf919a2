"""The second task: figures by hand, and the whole on the miniature."""

from __future__ import annotations

import gzip
import io
import os
import re
import tarfile
from dataclasses import replace
from pathlib import Path
from statistics import mean

import pytest

from esr.errors import EsrError, InputError, UsageError
from esr.lab.commands.reproduce import as_json, as_markdown
from esr.lab.reproduce.annotations import read_names, read_opinions, read_parses, write_texts
from esr.lab.reproduce.experiment_results import ExperimentResults
from esr.lab.reproduce.raw_files import NAMES, NEW_NAMES, YEARS, find_raw_files, unpack
from esr.lab.reproduce.second_task import EVERYTHING, NewFigures, average, judge, measure_second_task
from esr.lab.reproduce.year import Year, load, measure_year, read_corpus
from esr.text.analyzer import get_analyzer
from esr.text.document import ParseWord
from tests.lab.reproduce import miniature
from tests.lab.reproduce.miniature import new_sentences, pack, write
from tests.lab.reproduce.miniature import topics as miniature_topics
from tests.support.elasticsearch import document

pytestmark = pytest.mark.slow


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


@pytest.mark.slow
def test_precision_recall_and_f_are_those_of_the_track() -> None:
    assert judge({"a", "b", "c", "d"}, frozenset("abx")) == pytest.approx((0.5, 2 / 3, 4 / 7))
    assert judge(set(), frozenset("a")) == judge({"a"}, frozenset()) == NewFigures(0.0, 0.0, 0.0)
    figures = [NewFigures(1.0, 0.5, 0.25), NewFigures(0.0, 0.0, 0.75)]
    assert average(iter(figures)) == NewFigures(0.5, 0.25, 0.5)


@pytest.mark.slow
def test_a_sentence_that_repeats_an_earlier_relevant_one_is_not_new(years: dict[str, Year]) -> None:
    """The first document says it, the second says less and then more, in the order of the topic."""
    documents = [
        document("b", "Fifteen miners died near Bochum on Monday.", "The weather was fine."),
        document("a", "Fifteen miners died near Bochum.", "Experts blame gas, and a lack of maintenance."),
    ]
    relevant = {"a.s0": 1, "a.s1": 1, "b.s0": 1}
    year = replace(
        years["2003"],
        documents=documents,
        allowed={"N1": ("b", "a")},
        qrels={"N1": relevant},
        new={"N1": frozenset({"a.s1", "b.s0", "b.s1"})},
    )
    task = measure_second_task(year)
    assert task is not None
    assert (task.topics, task.judged, task.new, task.not_relevant) == (1, 3, 2, ["N1 b.s1"])
    assert task.figures["0.8"] == NewFigures(1.0, 2 / 3, 0.8)
    assert task.figures[EVERYTHING] == NewFigures(2 / 3, 2 / 3, 2 / 3)
    reversed_order = measure_second_task(replace(year, allowed={"N1": ("a", "b")}))
    assert reversed_order is not None and reversed_order.figures["1"] == task.figures[EVERYTHING]


@pytest.mark.slow
def test_the_tables_have_every_year_with_judgements(results: ExperimentResults) -> None:
    assert list(results.second_task) == ["2002", "2003", "2004"]
    page, data = as_markdown(results, []), as_json(results, [])
    for year, task in results.second_task.items():
        topics = miniature_topics(year)
        assert (task.topics, task.new) == (len(topics), sum(len(new_sentences(t)) for t in topics))
        assert f"### {year}: {task.topics} topics, {task.judged} relevant sentences" in page
        assert data["second_task"][year]["figures"]["0.8"]["f"] == task.figures["0.8"].f
        assert task.figures[EVERYTHING].recall == 1.0


@pytest.mark.slow
def test_a_year_without_judgements_of_what_is_new_has_only_the_first_task(
    tmp_path: Path, years: dict[str, Year], results: ExperimentResults
) -> None:
    write(tmp_path, ("2003",))
    (new,) = tmp_path.rglob(NEW_NAMES["2003"][0])
    assert find_raw_files(tmp_path).years[0].new == new
    new.rename(new.with_name(NEW_NAMES["2003"][1]))
    assert find_raw_files(tmp_path).years[0].new == new.with_name(NEW_NAMES["2003"][1])
    new.with_name(NEW_NAMES["2003"][1]).unlink()
    assert find_raw_files(tmp_path).years[0].new is None
    assert measure_second_task(replace(years["2003"], new=None)) is None
    assert "has no judgements of what is new" in as_markdown(replace(results, second_task={}), [])


@pytest.mark.slow
@pytest.mark.parametrize("year", NAMES)
def test_the_judgements_of_what_is_new_are_read(years: dict[str, Year], year: str) -> None:
    expected = {t.id: frozenset(new_sentences(t)) for t in miniature_topics(year)}
    assert years[year].new == expected


@pytest.mark.slow
def test_sentences_with_grade_0_are_not_new(tmp_path: Path, years: dict[str, Year]) -> None:
    write(tmp_path / "data", ("2003",))
    new = next((tmp_path / "data").rglob(NEW_NAMES["2003"][0]))
    graded = [
        f"{topic.id} 0 {sentence} {int(sentence in new_sentences(topic))}\n"
        for topic in miniature_topics("2003")
        for sentence in topic.relevant
    ]
    new.write_text("".join(graded))
    assert load(find_raw_files(tmp_path / "data").years[0], tmp_path / "work").new == years["2003"].new


def terms(text):
    return len(get_analyzer("english").terms(text))


@pytest.mark.parametrize("year", ["2002", "2003", "2004"])
def test_shares_and_lengths_agree_with_the_generator(years, year):
    statistics = measure_year(years[year])
    topics = miniature.topics(year)
    pooled = [s for t in topics for s in t.sentences]
    by_sentence = {(s.document, s.number): terms(s.text) for s in pooled}
    assert (statistics.topics, statistics.documents, statistics.sentences) == (4, 20, 240)
    assert statistics.ranked == len(pooled) == 252
    assert statistics.relevant == sum(len(t.relevant) for t in topics)
    assert statistics.relevant_micro == statistics.relevant / 252
    assert statistics.relevant_macro == pytest.approx(
        mean(len(t.relevant) / len(t.sentences) for t in topics)
    )
    assert statistics.relevant_macro != statistics.relevant_micro
    assert statistics.sentence_length == pytest.approx(mean(by_sentence.values()))
    relevant = [
        terms(s.text) for t in topics for s in t.sentences if f"{s.document}:{s.number}" in t.relevant
    ]
    assert statistics.relevant_length == pytest.approx(mean(relevant))


def test_terms_that_occur_once_and_above_the_collection_are_counted(years):
    documents = [document("a", "miners died, miners slept", "gas"), document("b", "gas leaked", "gas gas")]
    statistics = measure_year(replace(years["2003"], documents=documents, qrels={}, tasks=[]))
    # Of seven terms two occur twice; gas is 1/5 of the first document and 4/9 of all.
    assert statistics.once == pytest.approx(5 / 7)
    assert statistics.above == pytest.approx(6 / 7)
    assert statistics.far_above == 0.0


def test_documents_without_a_relevant_sentence_are_counted(years):
    year = years["2003"]
    task = year.tasks[0]
    first = task.relevant[0].partition(":")[0]
    only_first = replace(task, relevant=tuple(s for s in task.relevant if s.startswith(first)))
    statistics = measure_year(replace(year, tasks=[only_first]))
    assert (statistics.without_relevant, statistics.topic_documents) == (4, 5)


def test_topics_have_their_types_and_whether_their_titles_have_names(years):
    assert years["2003"].kinds == {"N1": "opinion", "N2": "event", "N3": "opinion", "N45": "event"}
    assert years["2003"].named_titles == {"N1": False, "N2": True, "N3": True, "N45": True}
    assert measure_year(years["2003"]).named_titles == 3
    assert years["2002"].kinds == years["2002"].named_titles == {}
    assert measure_year(years["2002"]).named_titles is None


# What the papers' tools write


def tool_file(folder, text):
    (folder / "file").write_text(text, "utf-8")
    return folder / "file"


def test_opinions_are_read_from_opinionfinder(tmp_path):
    """By the second of its two classifiers. An unknown sentence is not subjective."""
    first = (
        '<MPQASENT autoclass1="obj" autoclass2="subj" diff="4">A <MPQAPOL autoclass="negative">bad</MPQAPOL> '
        '<MPQAPOL autoclass="positive">good</MPQAPOL> <MPQAPOL autoclass="negative">sad</MPQAPOL>.</MPQASENT>'
    )
    second = '<MPQASENT autoclass1="subj" autoclass2="unknown">A <MPQAPOL autoclass="neutral">day</MPQAPOL>.'
    text = f"{first}\n{second}</MPQASENT>\n"
    first, second = read_opinions(tool_file(tmp_path, text))
    assert first == {"subj": 1.0, "pos": 1.0, "neg": 2.0, "opt": 3.0}
    assert second == {"subj": 0.0, "pos": 0.0, "neg": 0.0, "opt": 0.0}


def test_names_are_counted_by_type(tmp_path):
    text = "<PERSON>Ada</PERSON> of <LOCATION>London</LOCATION> met <PERSON>Babbage</PERSON>.\nNobody.\n"
    first, second = read_names(tool_file(tmp_path, text))
    assert first == {"pers": 2.0, "loc": 1.0, "org": 0.0, "ne": 3.0}
    assert second == {"pers": 0.0, "loc": 0.0, "org": 0.0, "ne": 0.0}


# "Everest is the highest mountain", with MINIPAR's trace of Everest below the mountain.
EVEREST = """(
E0\t(()\tfin\tC\t*\t\t)
1\t(Everest\t~\tN\t2\ts\t(gov be)\t)
2\t(is\tbe\tVBE\tE0\ti\t(gov fin)\t)
E2\t(()\tEverest\tN\t5\tsubj\t(gov mountain)\t(antecedent 1)\t)
3\t(the\t~ Det\t5\tdet\t(gov mountain)\t)
4\t(highest\thigh A\tE2\tmod\t(gov mountain)\t)
5\t(New mountain\t~\tN\t2\tpred\t(gov be)\t)
)
"""


def test_parses_are_read_from_minipar(tmp_path):
    """A trace is no node, what depends on it depends on its antecedent; the lemma may share a field."""
    first, second = read_parses(tool_file(tmp_path, EVEREST + "(\n1\t(No\t~\tDet\t*\tdet\t)\n)\n"))
    assert first == (
        ParseWord("", -1),
        ParseWord("Everest", 2),
        ParseWord("is", 0),
        ParseWord("the", 5),
        ParseWord("highest", 1),
        ParseWord("New mountain", 2),
    )
    assert second == (ParseWord("No", -1),)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(\n1\t(a\t~\tN\t*\t)\n", "ends within a parse"),
        ("(\n(\n", "begins before the last one ends"),
        (")\n", "ends that has not begun"),
        ("(\nno parse\n)\n", "is not a parse of MINIPAR: 'no parse'"),
        ("(\n1\t(a\t~\tN\t2\tx\t)\n2\t(b\t~\tN\t1\tx\t)\n)\n", "a parse with a cycle"),
    ],
)
def test_a_broken_parse_is_rejected(tmp_path, text, problem):
    with pytest.raises(InputError, match=re.escape(problem)):
        read_parses(tool_file(tmp_path, text))


def test_sentences_have_what_the_tools_say_of_them(years):
    for year in ("2003", "2004"):
        sentences = [sentence for d in years[year].documents for sentence in d.sentences]
        assert all(
            set(s.features) == {*["subj", "pos", "neg", "opt", "pers", "loc", "org", "ne"]} for s in sentences
        )
        assert all(s.parse and len(s.parse) == len(s.text.split()) + 1 for s in sentences)
    assert not any(s.features or s.parse for d in years["2002"].documents for s in d.sentences)


def test_annotations_of_another_number_of_sentences_are_rejected(tmp_path):
    data = miniature.write(tmp_path / "data", ("2003",))
    path = next(data.rglob("XIE20030101.0000.minipar"))
    path.write_text(EVEREST)
    available = find_raw_files(data)
    with pytest.raises(InputError, match="is about 1 sentences, but the document has 12"):
        load(available.years[0], tmp_path / "work", available.annotations)
    path.unlink()
    next(data.rglob("XIE20030101.0001.ner")).unlink()
    available = find_raw_files(data)
    findings = load(available.years[0], tmp_path / "work", available.annotations).findings
    assert (findings.without_parses, findings.without_names) == (["XIE20030101.0000"], ["XIE20030101.0001"])
    assert findings.without_opinions == []


def test_two_annotations_of_a_document_are_rejected(tmp_path):
    data = miniature.write(tmp_path, ("2003",))
    (data / "XIE20030101.0000.ner").write_text("")
    with pytest.raises(InputError, match=r"XIE20030101\.0000 has another file of names"):
        find_raw_files(data)


def test_the_files_of_aquaint_are_found_by_their_folders(tmp_path):
    data = miniature.write(tmp_path / "nyt", ("2003",))
    assert [path.name for path in find_raw_files(data).aquaint] == [
        "19990101_APW_ENG", "19980601_NYT", "20030101_XIN_ENG"
    ]  # fmt: skip


def test_texts_for_the_tools_have_a_sentence_on_each_line(tmp_path):
    documents = [document("a", "Fifteen\nminers died.", "Gas.")]
    assert write_texts(documents, {"N1": "mine accidents"}, tmp_path / "new") == 2
    assert (tmp_path / "new/a").read_text() == "Fifteen miners died.\nGas.\n"
    assert (tmp_path / "new/N1").read_text() == "mine accidents\n"
