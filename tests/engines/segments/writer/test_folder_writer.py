from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

import esr
from esr.documents import Located, ParseWord, Sentence
from esr.engines.embedded.index import EmbeddedIndex
from esr.engines.index import Filters
from esr.engines.segments.store import manifest
from esr.engines.segments.store.writer_lock import hold_writer_lock
from esr.engines.segments.writer import segment_builder
from esr.errors import EsrError, IndexMissing, IndexUnusable, InputError, UsageError
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


def test_stop_words_are_not_indexed(where: Path) -> None:
    load(where, [document("A", "the storms", "a storm of the and")], analyzer="english-stem")
    index = EmbeddedIndex(str(where))
    statistics = index.statistics(["storm", "the", "and"])
    assert (statistics.collection.occurrences, statistics.terms["storm"].cf) == (2, 2)
    assert not statistics.terms["the"].seen and not statistics.terms["and"].seen


def test_a_record_has_neighbors_from_its_own_document_only(where: Path) -> None:
    load(where, [document("A", "one", "two", "three", title="T", date="2017"), document("B", "four")])
    index = EmbeddedIndex(str(where))
    first, middle, alone = index.sentences(["A.s0", "A.s1", "B.s0"])
    assert (first.previous, first.next) == (None, "two")
    assert (middle.previous, middle.text, middle.next, middle.position) == ("one", "two", "three", 1)
    assert (alone.previous, alone.next, alone.title) == (None, None, None)
    assert (middle.title, middle.date, middle.document_id) == ("T", "2017", "A")


@pytest.mark.parametrize(
    "sentence_id", ["A.s2", "A.s01", "A.s-1", "A.s", "A", "", "B.s0", "A.s١", "\udcff.s0"]
)
def test_an_unknown_sentence_is_named(where: Path, sentence_id: str) -> None:
    load(where, [document("A", "one", "two"), document("B", Sentence("given", "three"))])
    with pytest.raises(UsageError, match="there is no sentence"):
        EmbeddedIndex(str(where)).sentences([sentence_id])


def test_an_explicit_id_of_the_default_form_belongs_to_its_sentence(where: Path) -> None:
    load(where, [document("A", Sentence("A.s1", "late"), Sentence("A.s0", "early"))])
    assert [r.text for r in EmbeddedIndex(str(where)).sentences(["A.s0", "A.s1"])] == ["early", "late"]


def test_an_unknown_document_is_named(where: Path) -> None:
    load(where, [document("A", "one")])
    with pytest.raises(UsageError, match="there is no document 'B'"):
        EmbeddedIndex(str(where)).document("B")


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
    with esr.open(str(where)) as searcher:
        assert searcher.search("storming").total == 2
        assert searcher.index.description.title is False


def test_appending_without_an_index_is_a_first_load(where: Path) -> None:
    append(where, document("A", "one"))
    assert indexed_ids(where) == ["A.s0"]


def test_an_open_index_sees_the_next_commit(where: Path) -> None:
    load(where, [document("A", "storm")])
    with esr.open(str(where)) as searcher:
        assert searcher.search("storm").total == 1
        append(where, document("B", "storm"))
        assert searcher.search("storm").total == 2
        load(where, [document("C", "storm storm")], if_exists="replace")
        assert [hit.sentence_id for hit in searcher.search("storm").hits] == ["C.s0"]


def test_an_open_index_adopts_the_analyzer_of_the_next_commit(where: Path) -> None:
    load(where, [document("A", "storms")])
    with esr.open(str(where)) as searcher:
        load(where, [document("A", "storms")], if_exists="replace", analyzer="english-stem")
        assert searcher.search("the storming").total == 1
        assert searcher.index.description.analyzer == "english-stem"


def test_a_snapshot_stays_on_its_commit(where: Path) -> None:
    load(where, [document("A", "storm")])
    index = EmbeddedIndex(str(where))
    snapshot = index.snapshot()
    load(where, [document("B", "flood"), document("C", "flood")], if_exists="replace", analyzer="english")
    assert index.statistics(["flood"]).terms["flood"].df == 2
    assert snapshot.statistics(["flood"]).terms["flood"].df == 0
    assert snapshot.analyzer.name == "plain"
    assert snapshot.document("A").id == "A"
    assert snapshot.sentences(["A.s0"])[0].text == "storm"


def test_an_open_index_answers_after_its_folder_was_deleted(where: Path) -> None:
    load(where, [document("A", "storm")])
    with esr.open(str(where)) as searcher:
        for path in sorted(where.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        where.rmdir()
        assert searcher.search("storm").total == 1


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
    from esr.engines.factory import LoadOptions, open_writer

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


def test_a_missing_index_is_named() -> None:
    with pytest.raises(IndexMissing, match="there is no index at /nowhere/at/all: make one with esr load"):
        esr.open("/nowhere/at/all")


def test_a_folder_with_other_content_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear")
    before = file_contents(tmp_path)
    for attempt in (
        lambda: esr.open(str(tmp_path)),
        *(
            lambda choice=choice: load(tmp_path, [document("A", "one")], if_exists=choice)
            for choice in ("fail", "replace", "append")
        ),
    ):
        with pytest.raises(IndexUnusable, match="is not an index"):
            attempt()
    assert file_contents(tmp_path) == before
    assert not (tmp_path / "lock").exists()


def test_a_file_is_refused_and_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "news.txt"
    file.write_text("dear")
    with pytest.raises(IndexUnusable, match="is a file, not an index folder"):
        esr.open(str(file))
    for choice in ("fail", "replace", "append"):
        with pytest.raises(IndexUnusable, match="is a file, not an index folder"):
            load(file, [document("A", "one")], if_exists=choice)
    assert file.read_text() == "dear"


def test_a_location_below_a_file_or_with_an_impossible_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "index", tmp_path / ("x" * 300)):
        with pytest.raises(EsrError):
            load(place, [document("A", "one")])
        with pytest.raises(EsrError):
            esr.open(str(place))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"format": 99}',
        '{"format": 1}',
        '{"format": 1, "description": {"a": 1}}',
    ],
)
def test_a_broken_manifest_is_refused(where: Path, content: str) -> None:
    load(where, [document("A", "one")])
    (where / manifest.NAME).write_text(content)
    with pytest.raises(IndexUnusable):
        esr.open(str(where))
    with pytest.raises(IndexUnusable):
        append(where, document("B", "two"))


COLUMNS = """
    sentence_starts sentence_numbers sentence_counts document_starts document_numbers
    document_counts occurrences length surrounding_length document_length document first
    document_likelihood surrounding_likelihood date source given_at terms.ends terms.hashes
    terms.numbers documents.ends documents.hashes documents.numbers given.ends given.hashes
    given.numbers texts.ends
"""
SEGMENT_FILES = [
    "sources.json",
    *(f"{name}.npy" for name in COLUMNS.split()),
    *(f"{name}.bytes" for name in ("terms", "documents", "given", "texts")),
]


def test_these_are_all_the_files_of_a_segment(where: Path) -> None:
    load(where, [document("A", "one")])
    (segment,) = (where / "segments").iterdir()
    assert sorted(path.name for path in segment.iterdir()) == sorted(SEGMENT_FILES)


@pytest.mark.parametrize("name", SEGMENT_FILES)
def test_a_missing_or_truncated_file_of_a_segment_is_reported(where: Path, name: str) -> None:
    texts = [Sentence(f"given{n}", f"word{n} storm") for n in range(100)]
    load(where, [document("A", *texts, source="s", date="2017")])
    (segment,) = (where / "segments").iterdir()
    content = (segment / name).read_bytes()
    (segment / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(IndexUnusable, match="is damaged"):
        esr.open(str(where))
    (segment / name).unlink()
    with pytest.raises(IndexUnusable, match="is damaged"):
        esr.open(str(where))
    with pytest.raises(IndexUnusable, match="is damaged"):
        append(where, document("B", "two"))
    load(where, [document("A", "one")], if_exists="replace")
    assert indexed_ids(where) == ["A.s0"], "loading again repairs it"


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


def test_an_index_of_documents_without_sentences_can_be_searched(where: Path) -> None:
    load(where, [document("A", title="storm"), document("B")])
    with esr.open(str(where)) as searcher:
        for candidates in ("matching", "context", "all"):
            assert searcher.search("storm", candidates=candidates).hits == []
        assert searcher.index.status()["documents"] == 2


def test_an_empty_index_returns_no_hits(where: Path) -> None:
    load(where, [])
    with esr.open(str(where)) as searcher:
        answer = searcher.search("storm", priors={"length": 1.0})
    assert (answer.hits, answer.total, answer.unseen) == ([], 0, ("storm",))


def test_statistics_are_those_of_all_segments(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)
    documents = [
        document(f"d{n}", *(" ".join(rng.choices("abcdef", k=rng.randrange(6))) for _ in range(n % 4)))
        for n in range(30)
    ]
    load(where, documents)
    monkeypatch.setattr(segment_builder, "FULL_TERMS", 9)
    load(where.with_name("many"), documents)
    single, many = EmbeddedIndex(str(where)), EmbeddedIndex(str(where.with_name("many")))
    assert many.status()["segments"] > 3 and single.status()["segments"] == 1
    assert many.statistics([*"abcdef", "unseen"]) == single.statistics([*"abcdef", "unseen"])
    assert single.statistics(["unseen"]).terms["unseen"].seen is False
    assert single.statistics([]).collection.longest_sentence == 5


def test_ties_keep_the_collection_order_across_segments(where: Path, small_segments: None) -> None:
    load(where, [document(f"d{n}", "storm", "storm flood") for n in (3, 1, 2, 0)])
    with esr.open(str(where)) as searcher:
        for k in (1, 2, 3, 4, 5, 8):
            answer = searcher.search("storm", k, model="tfisf")
            assert [hit.sentence_id for hit in answer.hits] == [
                f"d{n}.s{m}" for n in (3, 1, 2, 0) for m in (0, 1)
            ][:k]


def test_a_filter_that_nothing_satisfies_gives_no_hits(where: Path) -> None:
    load(where, [document("A", "storm")])
    with esr.open(str(where)) as searcher:
        assert searcher.search("storm", filters=Filters(documents=("B",))).total == 0
