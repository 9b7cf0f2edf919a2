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
from esr.engines.segments.writer import segment_builder as build
from esr.errors import EsrError, IndexMissing, IndexUnusable, InputError, UsageError
from tests.support.folder_index import append, document, files, indexed, load


def test_a_report_counts_what_was_loaded(where: Path) -> None:
    report = load(where, [document("A", "one", "two"), document("B"), document("C", "three")])
    assert (report.documents, report.sentences, report.without_sentences, report.unchanged) == (3, 3, 1, 0)
    assert report.seconds > 0


def test_sentences_keep_the_order_they_were_loaded_in(where: Path, small_segments: None) -> None:
    load(where, [document("B", "one", "two"), document("A", "three"), document("C")])
    assert indexed(where) == ["B.s0", "B.s1", "A.s0"]


def test_a_document_comes_back_with_all_that_was_given(where: Path) -> None:
    given = document(
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
    load(where, [given, document("B", "bare")])
    index = EmbeddedIndex(str(where))
    assert index.document("A") == given.document
    assert index.document("B") == document("B", "bare").document
    assert isinstance(index.document("A").sentences[0].parse, tuple)


def test_stop_words_take_no_room_and_are_no_terms(where: Path) -> None:
    load(where, [document("A", "the storms", "a storm of the and")], analyzer="english-stem")
    index = EmbeddedIndex(str(where))
    found = index.statistics(["storm", "the", "and"])
    assert (found.collection.occurrences, found.terms["storm"].cf) == (2, 2)
    assert not found.terms["the"].seen and not found.terms["and"].seen


def test_a_record_has_its_neighbours_and_nothing_beyond_its_document(where: Path) -> None:
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
def test_a_sentence_that_is_not_there_is_named(where: Path, sentence_id: str) -> None:
    load(where, [document("A", "one", "two"), document("B", Sentence("given", "three"))])
    with pytest.raises(UsageError, match="there is no sentence"):
        EmbeddedIndex(str(where)).sentences([sentence_id])


def test_a_given_id_in_the_default_form_is_found_where_it_was_given(where: Path) -> None:
    load(where, [document("A", Sentence("A.s1", "late"), Sentence("A.s0", "early"))])
    assert [r.text for r in EmbeddedIndex(str(where)).sentences(["A.s0", "A.s1"])] == ["early", "late"]


def test_a_document_that_is_not_there_is_named(where: Path) -> None:
    load(where, [document("A", "one")])
    with pytest.raises(UsageError, match="there is no document 'B'"):
        EmbeddedIndex(str(where)).document("B")


def test_a_load_that_fails_leaves_nothing_of_itself(where: Path, small_segments: None) -> None:
    load(where, [document("A", "one")])
    before = files(where)

    def broken() -> object:
        yield document("B", "two")
        raise InputError("news.jsonl:3", "broken")

    for if_exists in ("append", "replace"):
        with pytest.raises(InputError, match=r"news\.jsonl:3: broken"):
            load(where, broken(), if_exists=if_exists)  # type: ignore[arg-type]
        assert files(where) == before
    assert indexed(where) == ["A.s0"]


def test_a_first_load_that_fails_leaves_no_index_and_can_be_said_again(where: Path) -> None:
    with pytest.raises(InputError):
        load(where, [document("A", "one"), document("A", "one")])
    assert not where.exists()
    load(where, [document("A", "one")])
    assert indexed(where) == ["A.s0"]


def test_a_second_load_is_refused_unless_it_says_what_to_do(where: Path) -> None:
    load(where, [document("A", "one")])
    with pytest.raises(UsageError, match="--if-exists replace or --if-exists append"):
        load(where, [document("B", "two")])
    assert indexed(where) == ["A.s0"]


def test_replacing_leaves_the_new_documents_alone(where: Path) -> None:
    load(where, [document("A", "one"), document("B", "two")])
    load(where, [document("B", "three")], if_exists="replace", analyzer="english")
    index = EmbeddedIndex(str(where))
    assert indexed(where) == ["B.s0"]
    assert index.description.analyzer == "english"
    load(where, [document("B", "three")], if_exists="replace", keep=0)
    assert len(list((where / "segments").iterdir())) == 1, "the old segments are swept"


def test_appending_counts_unchanged_documents_and_adds_the_rest(where: Path) -> None:
    load(where, [document("A", "one"), document("B", "two")])
    report = append(where, document("A", "one"), document("C", "three"), document("B", "two"))
    assert (report.documents, report.unchanged, report.sentences) == (3, 2, 1)
    assert indexed(where) == ["A.s0", "B.s0", "C.s0"]


def test_appending_nothing_new_makes_no_commit(where: Path) -> None:
    load(where, [document("A", "one")])
    before = files(where)
    assert append(where, document("A", "one")).unchanged == 1
    assert files(where) == before


@pytest.mark.parametrize(
    "changed", [document("A", "two"), document("A", "one", title="new"), document("A", Sentence("x", "one"))]
)
def test_appending_a_changed_document_is_refused(where: Path, changed: Located) -> None:
    load(where, [document("A", "one")])
    with pytest.raises(InputError, match=r"news.jsonl:A: document 'A' is in the index with other content"):
        append(where, document("B", "two"), changed)
    assert indexed(where) == ["A.s0"]


@pytest.mark.parametrize("options", [{"analyzer": "english"}, {"title": False}])
def test_appending_with_other_analysis_is_refused(where: Path, options: dict) -> None:
    load(where, [document("A", "one")])
    with pytest.raises(UsageError, match="append with the same"):
        load(where, [document("B", "two")], if_exists="append", **options)


def test_appending_takes_the_analysis_of_the_index(where: Path) -> None:
    load(where, [document("A", "storms", title="x")], analyzer="english-stem", title=False)
    load(where, [document("B", "storm")], if_exists="append", analyzer=None)
    with esr.open(str(where)) as searcher:
        assert searcher.search("storming").total == 2
        assert searcher.index.description.title is False


def test_appending_to_nothing_is_a_first_load(where: Path) -> None:
    append(where, document("A", "one"))
    assert indexed(where) == ["A.s0"]


def test_an_open_index_sees_the_next_commit(where: Path) -> None:
    load(where, [document("A", "storm")])
    with esr.open(str(where)) as searcher:
        assert searcher.search("storm").total == 1
        append(where, document("B", "storm"))
        assert searcher.search("storm").total == 2
        load(where, [document("C", "storm storm")], if_exists="replace")
        assert [hit.sentence_id for hit in searcher.search("storm").hits] == ["C.s0"]


def test_an_open_index_takes_up_the_analyzer_of_the_next_commit(where: Path) -> None:
    load(where, [document("A", "storms")])
    with esr.open(str(where)) as searcher:
        load(where, [document("A", "storms")], if_exists="replace", analyzer="english-stem")
        assert searcher.search("the storming").total == 1
        assert searcher.index.description.analyzer == "english-stem"


def test_a_search_that_has_begun_ends_on_the_commit_it_began_with(where: Path) -> None:
    load(where, [document("A", "storm")])
    index = EmbeddedIndex(str(where))
    begun = index.snapshot()
    load(where, [document("B", "flood"), document("C", "flood")], if_exists="replace", analyzer="english")
    assert index.statistics(["flood"]).terms["flood"].df == 2
    assert begun.statistics(["flood"]).terms["flood"].df == 0
    assert begun.analyzer.name == "plain"
    assert begun.document("A").id == "A"
    assert begun.sentences(["A.s0"])[0].text == "storm"


def test_an_index_that_is_removed_answers_those_who_have_it_open(where: Path) -> None:
    load(where, [document("A", "storm")])
    with esr.open(str(where)) as searcher:
        for path in sorted(where.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        where.rmdir()
        assert searcher.search("storm").total == 1


def test_two_loads_at_once_are_refused_in_plain_words(where: Path) -> None:
    load(where, [document("A", "one")])
    with manifest.lock(where), pytest.raises(IndexUnusable, match=r"another load into .* is running"):
        append(where, document("B", "two"))
    assert indexed(where) == ["A.s0"]


def test_a_load_may_begin_while_another_is_read(where: Path) -> None:
    """The documents of a load may come from anywhere, even from the index itself."""
    load(where, [document("A", "one")])

    def from_the_index() -> object:
        yield Located("index", EmbeddedIndex(str(where)).document("A"))

    assert load(where, from_the_index(), if_exists="append").unchanged == 1  # type: ignore[arg-type]


def test_a_first_load_finds_another_that_was_quicker(where: Path) -> None:
    """Both saw an empty place; the second must not replace what the first has loaded since."""
    from esr.engines.factory import LoadOptions, open_writer

    slow = open_writer(str(where), LoadOptions(analyzer="plain"))
    load(where, [document("A", "one")])
    with pytest.raises(EsrError, match=r"another load into .* has ended since this one began"):
        slow.load([document("B", "two")])
    assert indexed(where) == ["A.s0"]


@pytest.mark.parametrize("left", [["lock"], ["lock", "esr-index.json.new"]])
def test_what_a_first_load_left_when_it_was_killed_is_no_foreign_folder(where: Path, left: list[str]) -> None:
    where.mkdir()
    for name in left:
        (where / name).write_text("")
    load(where, [document("A", "one")])
    assert indexed(where) == ["A.s0"]


def test_what_a_killed_load_left_is_swept_by_the_next(where: Path) -> None:
    load(where, [document("A", "one")])
    left = where / "segments" / "0123456789ab"
    left.mkdir()
    (left / "length.npy").write_bytes(b"half")
    append(where, document("B", "two"))
    assert not left.exists()
    assert indexed(where) == ["A.s0", "B.s0"]


def test_a_missing_index_is_named() -> None:
    with pytest.raises(IndexMissing, match="there is no index at /nowhere/at/all: make one with esr load"):
        esr.open("/nowhere/at/all")


def test_a_folder_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear")
    before = files(tmp_path)
    for attempt in (
        lambda: esr.open(str(tmp_path)),
        *(
            lambda choice=choice: load(tmp_path, [document("A", "one")], if_exists=choice)
            for choice in ("fail", "replace", "append")
        ),
    ):
        with pytest.raises(IndexUnusable, match="is not an index"):
            attempt()
    assert files(tmp_path) == before
    assert not (tmp_path / "lock").exists()


def test_a_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "news.txt"
    file.write_text("dear")
    with pytest.raises(IndexUnusable, match="is a file, not an index folder"):
        esr.open(str(file))
    for choice in ("fail", "replace", "append"):
        with pytest.raises(IndexUnusable, match="is a file, not an index folder"):
            load(file, [document("A", "one")], if_exists=choice)
    assert file.read_text() == "dear"


def test_a_place_below_a_file_or_with_an_impossible_name_is_refused(tmp_path: Path) -> None:
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
def test_a_missing_or_cut_off_file_of_a_segment_is_told_in_plain_words(where: Path, name: str) -> None:
    texts = [Sentence(f"given{n}", f"word{n} storm") for n in range(100)]
    load(where, [document("A", *texts, source="s", date="2017")])
    (segment,) = (where / "segments").iterdir()
    whole = (segment / name).read_bytes()
    (segment / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(IndexUnusable, match="is damaged"):
        esr.open(str(where))
    (segment / name).unlink()
    with pytest.raises(IndexUnusable, match="is damaged"):
        esr.open(str(where))
    with pytest.raises(IndexUnusable, match="is damaged"):
        append(where, document("B", "two"))
    load(where, [document("A", "one")], if_exists="replace")
    assert indexed(where) == ["A.s0"], "loading again mends it"


def test_a_commit_is_synced_before_it_is_shown(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file of a segment, and the manifest, reach the disk before the manifest takes its name."""
    synced: set[str] = set()
    real_sync, real_replace = os.fsync, os.replace
    shown = []

    def sync(number: int) -> None:
        synced.add(os.readlink(f"/proc/self/fd/{number}"))
        real_sync(number)

    def replace(source: Path, target: Path) -> None:
        shown.append({str(p) for p in where.rglob("segments/*/*")} | {str(source)} <= synced)
        real_replace(source, target)

    monkeypatch.setattr("os.fsync", sync)
    monkeypatch.setattr("os.replace", replace)
    load(where, [document("A", "one")])
    assert shown == [True] * 4, "the empty first commit, two checkpoints, then the load"


def test_documents_without_sentences_make_an_index_that_answers(where: Path) -> None:
    load(where, [document("A", title="storm"), document("B")])
    with esr.open(str(where)) as searcher:
        for candidates in ("matching", "context", "all"):
            assert searcher.search("storm", candidates=candidates).hits == []
        assert searcher.index.status()["documents"] == 2


def test_an_index_without_documents_answers_with_nothing(where: Path) -> None:
    load(where, [])
    with esr.open(str(where)) as searcher:
        answer = searcher.search("storm", priors={"length": 1.0})
    assert (answer.hits, answer.total, answer.unseen) == ([], 0, ("storm",))


def test_statistics_are_those_of_all_segments(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)
    made = [
        document(f"d{n}", *(" ".join(rng.choices("abcdef", k=rng.randrange(6))) for _ in range(n % 4)))
        for n in range(30)
    ]
    load(where, made)
    monkeypatch.setattr(build, "FULL_TERMS", 9)
    load(where.with_name("many"), made)
    one, many = EmbeddedIndex(str(where)), EmbeddedIndex(str(where.with_name("many")))
    assert many.status()["segments"] > 3 and one.status()["segments"] == 1
    assert many.statistics([*"abcdef", "unseen"]) == one.statistics([*"abcdef", "unseen"])
    assert one.statistics(["unseen"]).terms["unseen"].seen is False
    assert one.statistics([]).collection.longest_sentence == 5


def test_equal_scores_keep_the_collections_order_over_segments(where: Path, small_segments: None) -> None:
    load(where, [document(f"d{n}", "storm", "storm flood") for n in (3, 1, 2, 0)])
    with esr.open(str(where)) as searcher:
        for k in (1, 2, 3, 4, 5, 8):
            answer = searcher.search("storm", k, model="tfisf")
            assert [hit.sentence_id for hit in answer.hits] == [
                f"d{n}.s{m}" for n in (3, 1, 2, 0) for m in (0, 1)
            ][:k]


def test_a_filter_that_nothing_passes_gives_nothing(where: Path) -> None:
    load(where, [document("A", "storm")])
    with esr.open(str(where)) as searcher:
        assert searcher.search("storm", filters=Filters(documents=("B",))).total == 0
