"""Documents that were shown stay unpacked, within the limit of what searches keep."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

import pytest

from esr.folder.format.segment import Segment
from esr.folder.index import EmbeddedIndex
from esr.folder.search import records
from esr.folder.search.memory import SearchMemory
from esr.folder.search.records import DocumentCache, DocumentKey
from esr.folder.write import segment_writer
from esr.ranking.searcher import open_searcher
from tests.support.folder_index import document, load
from tests.support.threads import holds_in_threads


@pytest.fixture
def where(tmp_path: Path) -> Path:
    rng = random.Random(5)
    texts = ["".join(rng.choices("abcdefgh é", k=rng.randrange(20, 200))) for _ in range(3000)]
    load(tmp_path / "index", [document(f"d{n}", *texts[n * 10 : n * 10 + 10]) for n in range(300)])
    return tmp_path / "index"


def open_segments(where: Path) -> list[Segment]:
    return EmbeddedIndex(str(where)).cache.snapshot.segments


def test_a_document_is_unpacked_once(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[int] = []
    read_shown = records.read_shown
    monkeypatch.setattr(records, "read_shown", lambda blobs: unpacked.append(len(blobs)) or read_shown(blobs))
    index = EmbeddedIndex(str(where))
    first = index.sentences(["d1.s0", "d1.s9", "d2.s3"])
    assert unpacked == [2]
    assert index.sentences(["d1.s0", "d1.s9", "d2.s3"]) == first
    assert unpacked == [2]
    index.sentences(["d3.s1", "d2.s3"])
    assert unpacked == [2, 1]


def test_documents_of_several_segments_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 1)
    load(tmp_path / "index", [document(f"d{n}", f"text {n}") for n in range(5)])
    index = EmbeddedIndex(str(tmp_path / "index"))
    assert len(index.cache.snapshot.segments) > 1
    ids = [f"d{n}.s0" for n in range(5)]
    for _ in range(2):
        assert [record.text for record in index.sentences(ids)] == [f"text {n}" for n in range(5)]


def test_what_a_load_replaces_is_read_anew(tmp_path: Path) -> None:
    load(tmp_path / "index", [document("d", "old", title="Old")])
    index = EmbeddedIndex(str(tmp_path / "index"))
    assert index.sentences(["d.s0"])[0].text == "old"
    load(tmp_path / "index", [document("d", "new", title="New")], if_exists="replace")
    (record,) = index.sentences(["d.s0"])
    assert (record.text, record.title) == ("new", "New")


def test_documents_count_as_much_as_they_take(where: Path) -> None:
    segments, memory = open_segments(where), SearchMemory(1 << 30)
    documents = DocumentCache(segments, memory)
    documents.read([DocumentKey(0, 0)])
    tracemalloc.start()
    documents.read([DocumentKey(0, number) for number in range(1, 300)])
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.8 * taken < memory.used < 1.5 * taken


def test_threads_read_the_same_documents_within_the_limit(where: Path) -> None:
    segments, memory = open_segments(where), SearchMemory(100_000)
    documents = DocumentCache(segments, memory)

    def read(seed: int) -> bool:
        numbers = random.Random(seed).sample(range(300), 30)
        found = documents.read([DocumentKey(0, number) for number in numbers])
        return [found[DocumentKey(0, number)].id for number in numbers] == [f"d{n}" for n in numbers]

    assert holds_in_threads(read, range(300))
    assert memory.used == sum(size for _, size in memory._values.values()) <= memory.limit


def test_hits_are_the_same_when_hardly_any_document_is_kept(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_searcher(str(where)) as searcher:
        hits = [searcher.search(query, 50).hits for query in "abcd" * 2]
    monkeypatch.setattr("esr.index.limits.LEAST", 1)
    monkeypatch.setenv("ESR_CACHE_BYTES", "5000")
    with open_searcher(str(where)) as searcher:
        assert [searcher.search(query, 50).hits for query in "abcd" * 2] == hits
