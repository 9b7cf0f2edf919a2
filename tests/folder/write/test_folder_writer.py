"""Loads into an index folder: what they write, refuse, and leave behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from esr.errors import EsrError, IndexUnusable, InputError, UsageError
from esr.folder.format.manifest import hold_writer_lock
from esr.folder.index import EmbeddedIndex
from esr.ranking.searcher import open_searcher
from esr.text.document import Located, ParseWord, Sentence
from tests.support.folder_index import append, document, file_contents, indexed_ids, load


def test_a_report_counts_what_was_loaded(where: Path) -> None:
    report = load(where, [document("A", "one", "two"), document("B"), document("C", "three")])
    assert (report.documents, report.sentences, report.without_sentences, report.unchanged) == (3, 3, 1, 0)
    assert report.seconds > 0


def test_sentences_keep_the_order_they_were_loaded_in(where: Path, small_segments: None) -> None:
    load(where, [document("B", "one", "two"), document("A", "three"), document("C")])
    assert indexed_ids(where) == ["B.s0", "B.s1", "A.s0"]


def test_a_document_is_read_back_as_it_was_loaded(where: Path) -> None:
    complete = document(
        "A",
        Sentence("first", "A storm.", {"subj": 0.5, "len": 2.0}, (ParseWord("a", 1), ParseWord("storm", -1))),
        Sentence("A.s1", "", {}, ()),
        "Ein Sturm — ゲイル 𐐀.",
        title="Title",
        date="2017-02-07T10:30:00+01:00",
        source="a source",
        url="https://example.org/?a=1",
        language="de",
    )
    load(where, [complete, document("B", "bare")])
    index = EmbeddedIndex(str(where))
    assert index.document("A") == complete.document
    assert index.document("B") == document("B", "bare").document
    assert isinstance(index.document("A").sentences[0].parse, tuple)


def test_a_failed_load_leaves_no_trace(where: Path, small_segments: None) -> None:
    load(where, [document("A", "one")])
    before = file_contents(where)

    def broken() -> object:
        yield document("B", "two")
        raise InputError("news.jsonl:3", "broken")

    for if_exists in ("append", "replace"):
        with pytest.raises(InputError, match=r"news\.jsonl:3: broken"):
            load(where, broken(), if_exists=if_exists)  # type: ignore[arg-type]
        assert file_contents(where) == before
    assert indexed_ids(where) == ["A.s0"]


def test_a_failed_first_load_leaves_no_index_and_can_be_repeated(where: Path) -> None:
    with pytest.raises(InputError):
        load(where, [document("A", "one"), document("A", "one")])
    assert not where.exists()
    load(where, [document("A", "one")])
    assert indexed_ids(where) == ["A.s0"]


def test_a_second_load_must_say_what_happens_to_the_first(where: Path) -> None:
    load(where, [document("A", "one")])
    with pytest.raises(UsageError, match="--if-exists replace or --if-exists append"):
        load(where, [document("B", "two")])
    assert indexed_ids(where) == ["A.s0"]


def test_replacing_leaves_only_the_new_documents(where: Path) -> None:
    load(where, [document("A", "one"), document("B", "two")])
    load(where, [document("B", "three")], if_exists="replace", analyzer="english")
    index = EmbeddedIndex(str(where))
    assert indexed_ids(where) == ["B.s0"]
    assert index.description.analyzer == "english"
    load(where, [document("B", "three")], if_exists="replace", keep=0)
    assert len(list((where / "segments").iterdir())) == 1, "the old segments are deleted"


def test_appending_counts_unchanged_documents_and_adds_the_rest(where: Path) -> None:
    load(where, [document("A", "one"), document("B", "two")])
    report = append(where, document("A", "one"), document("C", "three"), document("B", "two"))
    assert (report.documents, report.unchanged, report.sentences) == (3, 2, 1)
    assert indexed_ids(where) == ["A.s0", "B.s0", "C.s0"]


def test_appending_nothing_new_makes_no_commit(where: Path) -> None:
    load(where, [document("A", "one")])
    before = file_contents(where)
    assert append(where, document("A", "one")).unchanged == 1
    assert file_contents(where) == before


@pytest.mark.parametrize(
    "changed", [document("A", "two"), document("A", "one", title="new"), document("A", Sentence("x", "one"))]
)
def test_appending_a_changed_document_is_refused(where: Path, changed: Located) -> None:
    load(where, [document("A", "one")])
    with pytest.raises(InputError, match=r"news.jsonl:A: document 'A' is in the index with other content"):
        append(where, document("B", "two"), changed)
    assert indexed_ids(where) == ["A.s0"]


@pytest.mark.parametrize("options", [{"analyzer": "english"}, {"title": False}])
def test_appending_with_another_analyzer_or_title_option_is_refused(where: Path, options: dict) -> None:
    load(where, [document("A", "one")])
    with pytest.raises(UsageError, match="append with the same"):
        load(where, [document("B", "two")], if_exists="append", **options)


def test_appending_uses_the_analyzer_of_the_index(where: Path) -> None:
    load(where, [document("A", "storms", title="x")], analyzer="english-stem", title=False)
    load(where, [document("B", "storm")], if_exists="append", analyzer=None)
    with open_searcher(str(where)) as searcher:
        assert searcher.search("storming").total == 2
        assert searcher.index.description.title is False


def test_appending_without_an_index_is_a_first_load(where: Path) -> None:
    append(where, document("A", "one"))
    assert indexed_ids(where) == ["A.s0"]


def test_a_second_writer_is_refused(where: Path) -> None:
    load(where, [document("A", "one")])
    with hold_writer_lock(where), pytest.raises(IndexUnusable, match=r"another load into .* is running"):
        append(where, document("B", "two"))
    assert indexed_ids(where) == ["A.s0"]


def test_documents_may_be_read_from_the_index_itself(where: Path) -> None:
    """Documents are read while the index that they come from is locked."""
    load(where, [document("A", "one")])

    def from_the_index() -> object:
        yield Located("index", EmbeddedIndex(str(where)).document("A"))

    assert load(where, from_the_index(), if_exists="append").unchanged == 1  # type: ignore[arg-type]


def test_a_first_load_notices_that_another_has_finished_meanwhile(where: Path) -> None:
    """Both found no index; the second must not replace what the first has loaded since."""
    from esr.index.factory import open_writer
    from esr.index.writer import LoadOptions

    slow = open_writer(str(where), LoadOptions(analyzer="plain"))
    load(where, [document("A", "one")])
    with pytest.raises(EsrError, match=r"another load into .* has finished since this one started"):
        slow.load([document("B", "two")])
    assert indexed_ids(where) == ["A.s0"]


@pytest.mark.parametrize("left", [["lock"], ["lock", "esr-index.json.new"]])
def test_the_remains_of_a_killed_first_load_can_be_loaded_into(where: Path, left: list[str]) -> None:
    where.mkdir()
    for name in left:
        (where / name).write_text("")
    load(where, [document("A", "one")])
    assert indexed_ids(where) == ["A.s0"]


def test_the_next_load_deletes_what_a_killed_one_left(where: Path) -> None:
    load(where, [document("A", "one")])
    left = where / "segments" / "0123456789ab"
    left.mkdir()
    (left / "length.npy").write_bytes(b"half")
    append(where, document("B", "two"))
    assert not left.exists()
    assert indexed_ids(where) == ["A.s0", "B.s0"]


def test_a_commit_is_synced_before_it_becomes_visible(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files of a segment, and the manifest, are on disk before the manifest gets its name."""
    synced: set[str] = set()
    real_sync, real_replace = os.fsync, os.replace
    is_synced = []

    def sync(number: int) -> None:
        synced.add(os.readlink(f"/proc/self/fd/{number}"))
        real_sync(number)

    def replace(source: Path, target: Path) -> None:
        is_synced.append({str(p) for p in where.rglob("segments/*/*")} | {str(source)} <= synced)
        real_replace(source, target)

    monkeypatch.setattr("os.fsync", sync)
    monkeypatch.setattr("os.replace", replace)
    load(where, [document("A", "one")])
    assert is_synced == [True] * 4, "the empty first commit, two checkpoints, then the load"
