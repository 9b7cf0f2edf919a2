"""Folders and files that are no index, or a damaged one, are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.errors import EsrError, IndexMissing, IndexUnusable
from esr.folder.format import manifest
from esr.ranking.searcher import open_searcher
from esr.text.document import Sentence
from tests.support.folder_index import append, document, file_contents, indexed_ids, load

pytestmark = pytest.mark.slow


def test_a_missing_index_is_named() -> None:
    with pytest.raises(IndexMissing, match="there is no index at /nowhere/at/all: make one with esr load"):
        open_searcher("/nowhere/at/all")


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


def test_a_file_is_refused_and_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "news.txt"
    file.write_text("dear")
    with pytest.raises(IndexUnusable, match="is a file, not an index folder"):
        open_searcher(str(file))
    for choice in ("fail", "replace", "append"):
        with pytest.raises(IndexUnusable, match="is a file, not an index folder"):
            load(file, [document("A", "one")], if_exists=choice)
    assert file.read_text() == "dear"


def test_a_location_below_a_file_or_with_an_impossible_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "index", tmp_path / ("x" * 300)):
        with pytest.raises(EsrError):
            load(path, [document("A", "one")])
        with pytest.raises(EsrError):
            open_searcher(str(path))


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


def test_these_are_all_the_files_of_a_segment(where: Path) -> None:
    load(where, [document("A", "one", section="s")])
    (segment,) = (where / "segments").iterdir()
    assert sorted(path.name for path in segment.iterdir()) == sorted(SEGMENT_FILES)


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
