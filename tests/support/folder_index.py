"""Small indexes in folders, for tests."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from msgspec.structs import replace

from esr.folder.format import manifest
from esr.folder.index import EmbeddedIndex
from esr.folder.write import segment_writer
from esr.index.factory import open_writer
from esr.index.writer import LoadOptions, LoadReport
from esr.text.document import Document, Located, ParseWord, Sentence, default_sentence_id


def document(id: str, *sentences: str | Sentence, **metadata: Any) -> Located:
    """A document read from the line `news.jsonl:<id>`. A sentence given as a text gets the default id."""
    built = tuple(
        Sentence(default_sentence_id(id, n), s) if isinstance(s, str) else s for n, s in enumerate(sentences)
    )
    return Located(f"news.jsonl:{id}", Document(id, built, **metadata))


def load(
    where: Path,
    documents: Iterable[Located],
    *,
    if_exists: str = "fail",
    analyzer: str | None = "plain",
    title: bool | None = None,
    **options: Any,
) -> LoadReport:
    return open_writer(str(where), LoadOptions(if_exists, analyzer, title, **options)).load(documents)


def append(where: Path, *documents: Located) -> LoadReport:
    return load(where, documents, if_exists="append")


def sentence_ids(index: EmbeddedIndex) -> list[str]:
    """The ids of all sentences of an index, in its order."""
    return [
        segment.sentence_id(number)
        for segment in index.cache.snapshot.segments
        for number in range(segment.sentence_count)
    ]


def indexed_ids(where: Path) -> list[str]:
    """The ids of all sentences of the index at this location; none if there is no index."""
    if not where.exists():
        return []
    return sentence_ids(EmbeddedIndex(str(where)))


def file_contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder by path, for comparison. The lock file has no content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "lock"
    }


def forget_checksums(where: Path) -> None:
    """Leave an index as the versions of esr that stored no checksums wrote it."""
    commit = manifest.read_manifest(where)
    for table in where.glob(f"{manifest.SEGMENTS}/*/{manifest.CHECKSUMS}"):
        table.unlink()
    with mock.patch.object(manifest, "read_check", return_value=None):
        manifest.commit(where, replace(commit, checksums={}))


# An index in a folder of documents that a test has drawn.


@contextmanager
def corpus(*loads: Sequence[Located], full: int = segment_writer.FULL_TERMS) -> Iterator[EmbeddedIndex]:
    """An index of these documents, one load after another. A segment is full with so many terms."""
    with tempfile.TemporaryDirectory() as folder, mock.patch("os.fsync"):
        where = Path(folder, "index")
        with mock.patch.object(segment_writer, "FULL_TERMS", full):
            for number, documents in enumerate(loads):
                load(where, documents, if_exists="append" if number else "fail")
        yield EmbeddedIndex(str(where))


def with_other_ids(load: Sequence[Located]) -> list[Located]:
    """The same documents under other ids."""

    def copy(located: Located) -> Located:
        sentences = (Sentence("e" + s.id, s.text, s.features) for s in located.document.sentences)
        return document("e" + located.document.id, *sentences, source=located.document.source)

    return list(map(copy, load))


# Documents of words that begin alike, with features and some parses.


WORDS = [
    "migration",
    "migrants",
    "migrate",
    "migrated",
    "migratory",
    "bank",
    "banks",
    "banking",
    "banker",
    "court",
    "courts",
    "vote",
    "1990s",
]
ODD = ["İstanbul", "İstanbullu", "𐐷𐐷𐐷𐐷", "𐐷𐐷𐐷𐐷𐐷", "ﬀﬀﬀﬀ", "ﬀﬀﬀﬀﬀ", "ÿÿÿÿ", "ÿÿÿÿÿ"]


def boost_corpus(first: int, count: int) -> Iterator[Document]:
    chance = random.Random(first)
    for n in range(first, first + count):
        sentences = []
        for i in range(chance.randint(1, 6)):
            words = chance.choices(WORDS, k=chance.randint(1, 9)) + chance.choices(ODD, k=i % 2)
            features = {"pers": i % 3, "numbers": (n + i) % 2} if i else {}
            parse = tuple(ParseWord(word, at - 1) for at, word in enumerate(words)) if i % 3 == 0 else None
            sentences.append(Sentence(f"d{n}.{i}", " ".join(words), features, parse))
        yield Document(f"d{n}", tuple(sentences), title="Migrational headlines" if n % 5 == 0 else None)


# Fixtures of the tests that write index folders.


@pytest.fixture(autouse=True)
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk, which would be most of the time of these tests."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


@pytest.fixture
def where(tmp_path: Path) -> Path:
    """A location for an index, where nothing exists yet."""
    return tmp_path / "index"


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every document makes a segment of its own."""
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 0)
