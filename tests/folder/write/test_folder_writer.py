"""Loads into an index folder: what they write, refuse, and leave behind."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from esr.errors import EsrError, IndexMissing, IndexUnusable, InputError, UsageError
from esr.folder.format import manifest
from esr.folder.format.manifest import SEGMENTS, Manifest
from esr.folder.format.writer_lock import hold_writer_lock
from esr.folder.index import EmbeddedIndex
from esr.folder.write import maintenance, segment_writer
from esr.folder.write.delivery import EmbeddedDelivery
from esr.folder.write.maintenance import EmbeddedGenerations
from esr.index.contract import read_document
from esr.ranking.searcher import open_searcher
from esr.text.document import Located, ParseWord, Sentence
from tests.support.folder_index import append, document, file_contents, indexed_ids, load

pytestmark = pytest.mark.slow


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
    assert read_document(index, "A") == complete.document
    assert read_document(index, "B") == document("B", "bare").document
    assert isinstance(read_document(index, "A").sentences[0].parse, tuple)


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
        yield Located("index", read_document(EmbeddedIndex(str(where)), "A"))

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
    """Files of segments, their folders, and the manifest are on disk before the manifest gets its name."""
    synced: set[str] = set()
    real_sync, real_replace = os.fsync, os.replace
    is_synced = []

    def sync(number: int) -> None:
        synced.add(os.readlink(f"/proc/self/fd/{number}"))
        real_sync(number)

    def replace(source: Path, target: Path) -> None:
        written = {str(path) for path in (*where.rglob("segments/*/*"), *where.rglob("segments"))}
        is_synced.append(written | {str(Path(path).parent) for path in written} | {str(source)} <= synced)
        real_replace(source, target)

    monkeypatch.setattr("os.fsync", sync)
    monkeypatch.setattr("os.replace", replace)
    load(where, [document("A", "one")])
    assert is_synced == [True] * 4, "the empty first commit, two checkpoints, then the load"
    EmbeddedDelivery(where).append([document("A", "another"), document("B", "two")])
    assert is_synced == [True] * 5, "new documents are written, and merged with those that are left"


def test_the_folder_of_a_first_load_is_synced_into_its_parents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a power failure after the load takes the whole index away."""
    synced: list[str] = []
    monkeypatch.setattr("os.fsync", lambda number: synced.append(os.readlink(f"/proc/self/fd/{number}")))
    load(tmp_path / "news" / "index", [document("A", "one")])
    assert {str(tmp_path), str(tmp_path / "news")} <= {*synced}
    synced.clear()
    maintenance.back_up(tmp_path / "news" / "index", tmp_path / "backup", copy=False)
    assert str(tmp_path) in synced


class Killed(BaseException):
    """Ends a command as a signal does."""


def test_an_index_can_be_loaded_again_whenever_its_deletion_was_killed(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = []

    def stop_after(steps: int, function: Callable[..., None]) -> Callable[..., None]:
        def change(*arguments: Any, **options: Any) -> None:
            if len(done) == steps:
                raise Killed
            done.append(arguments)
            function(*arguments, **options)

        return change

    for steps in range(100):
        load(where, [document("A", "one")], if_exists="replace", keep=0)
        done.clear()
        with monkeypatch.context() as patch:
            for name in ("rmdir", "unlink"):
                patch.setattr(os, name, stop_after(steps, getattr(os, name)))
            try:
                EmbeddedGenerations(str(where)).delete_all()
                break
            except Killed:
                pass
    assert 5 < steps < 99 and not where.exists()


# Duplicate ids, wherever they can occur.


def with_id(id: str) -> Sentence:
    return Sentence(id, "text")


DUPLICATE: dict[str, tuple[Located, Located, str]] = {
    "a document id": (document("A", "x"), document("A", "y"), "document id 'A' is duplicated"),
    "a document id without sentences": (document("A"), document("A"), "document id 'A' is duplicated"),
    "an explicit id of another document": (
        document("A", with_id("same")),
        document("B", with_id("same")),
        "sentence id 'same' is already used",
    ),
    "an explicit id that is an earlier default id": (
        document("A", "x", "y"),
        document("B", with_id("A.s1")),
        "sentence id 'A.s1' is already used",
    ),
    "a default id that is an earlier explicit id": (
        document("B", with_id("A.s1")),
        document("A", "x", "y"),
        "sentence id 'A.s1' is already used",
    ),
}


@pytest.mark.parametrize("full", [4_000_000, 0], ids=["in one segment", "across segments"])
@pytest.mark.parametrize("name", DUPLICATE)
def test_a_duplicate_id_stops_the_load(
    where: Path, monkeypatch: pytest.MonkeyPatch, name: str, full: int
) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", full)
    first, second, message = DUPLICATE[name]
    with pytest.raises(InputError, match=f"^{second.where}: {message}"):
        load(where, [first, document("between", "z"), second])
    assert indexed_ids(where) == []


@pytest.mark.parametrize("name", [name for name in DUPLICATE if "document id" not in name])
def test_a_sentence_id_that_the_index_has_stops_an_append(where: Path, name: str) -> None:
    first, second, message = DUPLICATE[name]
    load(where, [first])
    before = indexed_ids(where)
    with pytest.raises(InputError, match=f"^{second.where}: {message}"):
        append(where, document("between", "z"), second)
    assert indexed_ids(where) == before


@pytest.mark.parametrize("name", [name for name in DUPLICATE if "document id" not in name])
def test_a_sentence_id_that_the_index_has_stops_a_delivery(where: Path, name: str) -> None:
    first, second, message = DUPLICATE[name]
    load(where, [first])
    before = indexed_ids(where)
    with pytest.raises(InputError, match=f"^document '{second.document.id}': {message}"):
        EmbeddedDelivery(where).append([document("between", "z"), second])
    assert indexed_ids(where) == before


@pytest.mark.parametrize("id", ["A.s0", "A.s7"])
def test_an_id_in_the_form_of_a_default_one_that_the_index_has_stops_an_append(where: Path, id: str) -> None:
    load(where, [document("first", with_id(id))])
    before = indexed_ids(where)
    with pytest.raises(InputError, match=f"sentence id '{id}' is already used"):
        append(where, document("A", with_id("other"), "y"), document("second", with_id(id)))
    assert indexed_ids(where) == before


@pytest.mark.parametrize("pair", [("same", "same"), ("A.s1", None), (None, "A.s0")])
def test_a_duplicate_sentence_id_within_a_document_stops_the_load(
    where: Path, pair: tuple[str | None, str | None]
) -> None:
    sentences = [with_id(id) if id else "text" for id in pair]
    with pytest.raises(InputError, match=r"^news\.jsonl:A: sentence id '.*' (is already used|is duplicated)"):
        load(where, [document("A", *sentences)])


FREE: dict[str, tuple[Located, Located]] = {
    "a number with a leading zero": (document("A", "x", "y"), document("B", with_id("A.s01"))),
    "a number in other digits": (document("A", "x", "y"), document("B", with_id("A.s١"))),
    "a number after the last": (document("A", "x", "y"), document("B", with_id("A.s2"))),
    "a default id whose sentence has another": (
        document("A", with_id("other")),
        document("B", with_id("A.s0")),
    ),
    "a document's id": (document("A", "x"), document("B", with_id("A"))),
    "a document id like a sentence id": (document("A", "x"), document("A.s0", "y")),
}


@pytest.mark.parametrize("full", [4_000_000, 0], ids=["in one segment", "across segments"])
@pytest.mark.parametrize("name", FREE)
def test_an_id_that_only_looks_used_is_accepted(
    where: Path, monkeypatch: pytest.MonkeyPatch, name: str, full: int
) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", full)
    load(where, FREE[name])
    ids = [s.id for located in FREE[name] for s in located.document.sentences]
    assert indexed_ids(where) == ids


# The generations of a folder in which files are missing.


def test_a_layer_that_is_missing_is_named(where: Path) -> None:
    load(where, [document("A", Sentence("A.s0", "storm", {"x": 1.0}))])
    (layer,) = (where / "layers").iterdir()
    layer.unlink()
    (serving,) = EmbeddedGenerations(str(where)).all()
    assert (serving.state, serving.missing) == ("serving", (f"a file of layers/{layer.name}",))
    with pytest.raises(UsageError, match=f"{layer.name} is missing: restore a backup, or load everything"):
        EmbeddedGenerations(str(where)).rollback()


def test_a_file_that_is_too_short_is_named_and_not_called_missing(where: Path) -> None:
    load(where, [document("A", "storm")])
    load(where, [document("B", "flood")], if_exists="append")
    segment = manifest.read_manifest(where).segments[0]
    path = where / SEGMENTS / segment / "texts.bytes"
    path.write_bytes(path.read_bytes()[:-1])
    generations = EmbeddedGenerations(str(where))
    short = (f"an intact segments/{segment}/texts.bytes",)
    assert [(g.state, g.missing) for g in generations.all()] == [("serving", short), ("broken", short)]
    with pytest.raises(
        UsageError, match=r"keeps no intact generation before .*texts\.bytes is missing: rest"
    ):
        generations.rollback()


def test_a_rollback_goes_back_from_a_generation_that_lacks_a_segment(where: Path) -> None:
    load(where, [document("A", "storm")])
    load(where, [document("B", "flood")], if_exists="replace")
    generations = EmbeddedGenerations(str(where))
    last, first = generations.all()
    (segment,) = manifest.read_manifest(where).segments
    shutil.rmtree(where / SEGMENTS / segment)
    assert generations.rollback().name == first.name
    assert indexed_ids(where) == ["A.s0"]
    assert [(g.state, bool(g.missing)) for g in generations.all()] == [("broken", True), ("serving", False)]
    with pytest.raises(UsageError, match=f"is broken, as a file of segments/{segment} is missing"):
        generations.rollback(last.name)
    generations.delete([last.name])
    assert [g.state for g in generations.all()] == ["serving"]


def test_a_generation_is_deleted_on_a_disk_that_has_no_room_for_a_new_manifest(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full as long as the generation is there."""
    load(where, [document("A", "storm")])
    (doomed,) = manifest.read_manifest(where).segments
    load(where, [document("B", "flood")], if_exists="replace")
    commit = manifest.commit

    def commit_if_there_is_room(folder: Path, new: Manifest) -> None:
        if (where / SEGMENTS / doomed).exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        commit(folder, new)

    monkeypatch.setattr(manifest, "commit", commit_if_there_is_room)
    generations = EmbeddedGenerations(str(where))
    _, kept = generations.all()
    generations.delete([kept.name])
    assert [g.state for g in generations.all()] == ["serving"]
    assert indexed_ids(where) == ["B.s0"]
    doomed = manifest.read_manifest(where).segments[0]
    generations.delete_all()
    assert not where.exists()


def test_what_a_load_deletes_while_generations_are_listed_is_left_out(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, [document("A", "storm")])
    (where / SEGMENTS / "unfinished").mkdir()
    find = maintenance.list_unreferenced

    def find_and_delete(folder: Path, commit: Manifest) -> list[Path]:
        paths = find(folder, commit)
        for path in paths:
            path.rmdir()
        return paths

    monkeypatch.setattr(maintenance, "list_unreferenced", find_and_delete)
    assert [each.state for each in EmbeddedGenerations(str(where)).all()] == ["serving"]


# Folders and files that are no index, or a damaged one, are refused.


@pytest.mark.slow
def test_a_missing_index_is_named() -> None:
    with pytest.raises(IndexMissing, match="there is no index at /nowhere/at/all: make one with esr load"):
        open_searcher("/nowhere/at/all")


@pytest.mark.slow
def test_a_folder_with_other_content_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear")
    before = file_contents(tmp_path)
    for attempt in (
        lambda: open_searcher(str(tmp_path)),
        *(
            lambda choice=choice: load(tmp_path, [document("A", "one")], if_exists=choice)
            for choice in ("fail", "replace", "append")
        ),
    ):
        with pytest.raises(IndexUnusable, match="is not an index"):
            attempt()
    assert file_contents(tmp_path) == before
    assert not (tmp_path / "lock").exists()


@pytest.mark.slow
def test_a_file_is_refused_and_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "news.txt"
    file.write_text("dear")
    with pytest.raises(IndexUnusable, match="is a file, not an index folder"):
        open_searcher(str(file))
    for choice in ("fail", "replace", "append"):
        with pytest.raises(IndexUnusable, match="is a file, not an index folder"):
            load(file, [document("A", "one")], if_exists=choice)
    assert file.read_text() == "dear"


@pytest.mark.slow
def test_a_location_below_a_file_or_with_an_impossible_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "index", tmp_path / ("x" * 300)):
        with pytest.raises(EsrError):
            load(path, [document("A", "one")])
        with pytest.raises(EsrError):
            open_searcher(str(path))


@pytest.mark.slow
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
    (where / manifest.MANIFEST_NAME).write_text(content)
    with pytest.raises(IndexUnusable):
        open_searcher(str(where))
    with pytest.raises(IndexUnusable):
        append(where, document("B", "two"))


COLUMNS = """
    sentence_starts sentence_postings sentence_count_bits document_starts document_numbers
    document_counts occurrences length surrounding_length document_length document first
    document_likelihood surrounding_likelihood date source paragraph given_at terms.ends terms.hashes
    terms.numbers documents.ends documents.hashes documents.numbers given.ends given.hashes
    given.numbers texts.ends
"""
SEGMENT_FILES = [
    "checksums.json",
    "attributes.json",
    "attributes.bytes",
    "attributes.ends.npy",
    "attribute_starts.npy",
    "attribute_documents.npy",
    "sources.json",
    *(f"{name}.npy" for name in COLUMNS.split()),
    *(f"words.{name}" for name in ("bytes", "lengths.npy", "counts.npy")),
    *(f"words.{name}" for name in ("places.bytes", "groups.npy", "texts.npy")),
    "language.npy",
    "languages.json",
    *(f"{name}.bytes" for name in ("terms", "documents", "given", "texts")),
]


@pytest.mark.slow
def test_these_are_all_the_files_of_a_segment(where: Path) -> None:
    load(where, [document("A", "one", section="s")])
    (segment,) = (where / "segments").iterdir()
    assert sorted(path.name for path in segment.iterdir()) == sorted(SEGMENT_FILES)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEGMENT_FILES)
def test_a_missing_or_truncated_file_of_a_segment_is_reported(where: Path, name: str) -> None:
    texts = [Sentence(f"given{n}", f"word{n} storm") for n in range(100)]
    load(where, [document("A", *texts, source="s", date="2017", section="Sport", keywords=("a", "b"))])
    (segment,) = (where / "segments").iterdir()
    content = (segment / name).read_bytes()
    (segment / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(IndexUnusable, match="is damaged"):
        open_searcher(str(where))
    (segment / name).unlink()
    with pytest.raises(IndexUnusable, match="is damaged"):
        open_searcher(str(where))
    with pytest.raises(IndexUnusable, match="is damaged"):
        append(where, document("B", "two"))
    load(where, [document("A", "one")], if_exists="replace")
    assert indexed_ids(where) == ["A.s0"], "loading again repairs it"


def test_a_segment_is_full_by_its_documents_and_distinct_words_too(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their texts alone would fit into one segment; memory grows with the words and documents as well."""
    monkeypatch.setattr(segment_writer, "FULL_BYTES", 400_000)
    load(where, [document(f"d{n}", f"w{n:06}x") for n in range(1500)])
    assert len(list((where / SEGMENTS).iterdir())) > 1
    assert len(indexed_ids(where)) == 1500
