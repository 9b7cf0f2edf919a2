"""A larger collection from a real one: its sentences repeated in other documents.

The first part is the collection itself. Every further part has documents with the same lengths, dates and
sources under new ids, and contains every sentence once: each document is split into halves, the halves are
shuffled, and their sentences fill the documents in turn. Thus terms remain equally frequent and keep some of
their co-occurrences, and no two documents with several sentences are equal. A title moves with the first
sentence below it.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Document = dict[str, Any]


def read(path: Path) -> Iterator[Document]:
    """The documents of a file of JSON Lines, gzipped or not."""
    with (
        gzip.open(path, "rt", encoding="utf-8")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8") as rows
    ):
        yield from map(json.loads, rows)


def write(source: Path, target: Path, times: int, seed: int = 1) -> None:
    """Write a collection `times` as large as JSON Lines. The same seed gives the same file."""
    with target.open("w", encoding="utf-8") as file:
        file.writelines(lines(source, times, seed))


def lines(source: Path, times: int, seed: int = 1) -> Iterator[str]:
    """The lines of a collection `times` as large, one document each."""
    documents = list(read(source))
    yield from map(_line, documents)
    for part in range(1, times):
        yield from map(_line, recombine(documents, part, random.Random(f"{seed} {part}")))


def recombine(documents: list[Document], part: int, rng: random.Random) -> Iterator[Document]:
    """One more part, with as many documents and sentences as the collection."""
    halves = [half for document in documents for half in _halves(document)]
    rng.shuffle(halves)
    stream = ((title, text) for title, texts in halves for text in texts)
    for number, document in enumerate(documents):
        sentences = [next(stream) for _ in document["sentences"]]
        fields = {"id": f"part{part}-{number}", "title": sentences[0][0] if sentences else None}
        fields |= {key: document[key] for key in ("date", "source") if key in document}
        yield {**fields, "sentences": [{"text": text} for _, text in sentences]}


def _halves(document: Document) -> Iterator[tuple[str | None, list[str]]]:
    texts = [sentence["text"] for sentence in document["sentences"]]
    middle = (len(texts) + 1) // 2
    for half in (texts[:middle], texts[middle:]):
        if half:
            yield document.get("title"), half


def _line(document: Document) -> str:
    return json.dumps(document, ensure_ascii=False) + "\n"
