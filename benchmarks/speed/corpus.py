"""A larger collection out of a real one: its sentences again, in other documents.

The first part is the collection itself. Every further part has documents of the same lengths, dates and
sources under new ids, and holds every sentence once: each document is cut into halves, the halves are
shuffled, and their sentences fill the documents one after another. So terms stay as frequent and keep some of
the company that they have in real documents, and no two documents of several sentences are equal. A title
comes with the first sentence below it.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

Document = dict[str, Any]


def read(path: Path) -> Iterator[Document]:
    """The documents of a file of JSON Lines, packed by gzip or not."""
    with (
        gzip.open(path, "rt", encoding="utf-8")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8") as lines
    ):
        yield from map(json.loads, lines)


def write(source: Path, target: Path, times: int, seed: int = 1) -> None:
    """Write a collection `times` as large as JSON Lines. The same seed gives the same file."""
    documents = list(read(source))
    with target.open("w", encoding="utf-8") as file:
        for document in documents:
            _put(file, document)
        for part in range(1, times):
            for document in recombined(documents, part, random.Random(f"{seed} {part}")):
                _put(file, document)


def recombined(documents: list[Document], part: int, chance: random.Random) -> Iterator[Document]:
    """One more part: as many documents and sentences as there are."""
    halves = [half for document in documents for half in _halves(document)]
    chance.shuffle(halves)
    poured = ((title, text) for title, texts in halves for text in texts)
    for number, shape in enumerate(documents):
        filled = [next(poured) for _ in shape["sentences"]]
        made = {"id": f"part{part}-{number}", "title": filled[0][0] if filled else None}
        made |= {key: shape[key] for key in ("date", "source") if key in shape}
        yield {**made, "sentences": [{"text": text} for _, text in filled]}


def _halves(document: Document) -> Iterator[tuple[str | None, list[str]]]:
    texts = [sentence["text"] for sentence in document["sentences"]]
    middle = (len(texts) + 1) // 2
    for half in (texts[:middle], texts[middle:]):
        if half:
            yield document.get("title"), half


def _put(file: TextIO, document: Document) -> None:
    file.write(json.dumps(document, ensure_ascii=False) + "\n")
