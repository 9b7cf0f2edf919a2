from __future__ import annotations

import gzip
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.speed import corpus
from tests.support import toy_collection as toy


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return toy.write(tmp_path)[0]


def texts(document: corpus.Document) -> tuple[str, ...]:
    return tuple(sentence["text"] for sentence in document["sentences"])


def test_a_larger_collection_begins_with_the_source(source: Path, tmp_path: Path) -> None:
    corpus.write(source, tmp_path / "larger.jsonl", 3)
    real, larger = list(corpus.read(source)), list(corpus.read(tmp_path / "larger.jsonl"))
    assert larger[: len(real)] == real
    assert len(larger) == 3 * len(real)


def test_every_part_has_every_sentence_once(source: Path, tmp_path: Path) -> None:
    corpus.write(source, tmp_path / "larger.jsonl", 3)
    real = Counter(text for document in corpus.read(source) for text in texts(document))
    larger = Counter(text for document in corpus.read(tmp_path / "larger.jsonl") for text in texts(document))
    assert larger == Counter({text: 3 * count for text, count in real.items()})


def test_parts_keep_lengths_and_have_ids_of_their_own(source: Path, tmp_path: Path) -> None:
    corpus.write(source, tmp_path / "larger.jsonl", 3)
    larger = list(corpus.read(tmp_path / "larger.jsonl"))
    lengths = [len(texts(document)) for document in larger]
    assert lengths == 3 * lengths[: len(lengths) // 3]
    assert len({document["id"] for document in larger}) == len(larger)
    assert {document["source"] for document in larger} == {"toy"}


def test_no_document_with_several_sentences_is_repeated(source: Path, tmp_path: Path) -> None:
    corpus.write(source, tmp_path / "larger.jsonl", 4)
    documents = map(texts, corpus.read(tmp_path / "larger.jsonl"))
    counts = Counter(document for document in documents if len(document) > 2)
    assert max(counts.values()) == 1


def test_neighbours_stay_together(source: Path, tmp_path: Path) -> None:
    """Terms co-occur in documents as in real ones, so a part is not a random set of sentences."""
    corpus.write(source, tmp_path / "larger.jsonl", 2)
    real = {pair for document in corpus.read(source) for pair in pairwise(texts(document))}
    documents = [d for d in corpus.read(tmp_path / "larger.jsonl") if d["id"].startswith("part1")]
    pairs = [pair for document in documents for pair in pairwise(texts(document))]
    assert sum(pair in real for pair in pairs) > len(pairs) / 2


def test_the_same_seed_gives_the_same_collection(source: Path, tmp_path: Path) -> None:
    first, second, other = (tmp_path / name for name in ("first", "second", "other"))
    corpus.write(source, first, 2)
    corpus.write(source, second, 2)
    corpus.write(source, other, 2, seed=2)
    assert first.read_bytes() == second.read_bytes() != other.read_bytes()


def test_a_gzipped_source_is_read(source: Path, tmp_path: Path) -> None:
    gzipped = tmp_path / "documents.jsonl.gz"
    gzipped.write_bytes(gzip.compress(source.read_bytes()))
    assert list(corpus.read(gzipped)) == list(corpus.read(source))
