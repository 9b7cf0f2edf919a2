"""Small indexes in folders, for tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from esr.folder.index import EmbeddedIndex
from esr.index.factory import open_writer
from esr.index.writer import LoadOptions, LoadReport
from esr.text.document import Document, Located, Sentence, default_sentence_id


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
