"""A larger collection from a real one: its sentences repeated in other documents.

The first part is the collection itself. Every further part has documents with the same lengths, dates and
sources under new ids, and contains every sentence once: each document is split into halves, the halves are
shuffled, and their sentences fill the documents in turn. Thus terms remain equally frequent and keep some of
their co-occurrences, and no two documents with several sentences are equal. A title moves with the first
sentence below it.

A growing archive (`archive_lines`) has such parts only, with new words and new dates. Its vocabulary
follows Heaps' law, V = K n^b for n words: b is estimated from samples of the collection. Words that occur
once or twice in the collection are *rare*. In part p, as many of them as the law asks for, V(p) - V(p - 1),
chosen at random, become new words, by syllables of p at their end. Each other rare word copies what stands
in its place in an earlier part, chosen at random, which is the word itself or one of its new forms, so that
new words recur, and their frequencies follow Zipf's law (Simon 1955, "On a class of skew distribution
functions"). All other words remain. The documents are in random order, dated one after the other, evenly
from the first to the last day of `MONTHS` months.
"""

from __future__ import annotations

import gzip
import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

Document = dict[str, Any]
FIRST_DAY, LAST_DAY, MONTHS = date(2024, 1, 1), date(2025, 12, 31), 24
"""The days of the first and the last document of a growing archive."""
LAST_YEAR = date(2025, 1, 1)
"""The first day of an archive of twelve months."""
RARE = 2
"""How often a rare word occurs at most."""
_WORD = re.compile(r"\w+")
_CONSONANTS, _VOWELS = "bdfgklmnprtvz", "aou"


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


def archive_lines(source: Path, times: int, seed: int = 1, first_day: date = FIRST_DAY) -> Iterator[str]:
    """The lines of a growing archive `times` as large: new words and new dates, in order of time."""
    documents = list(read(source))
    words = NewWords(documents, seed)
    days, count = (LAST_DAY - first_day).days, times * len(documents)
    for part in range(times):
        rng = random.Random(f"{seed} {part}")
        order = rng.sample(documents, len(documents))
        words.begin(part)
        number = part * len(documents)
        for model, document in zip(order, recombine(order, part, rng), strict=True):
            day = first_day + timedelta(number * (days + 1) // count)
            fields = {"date": day.isoformat(), "section": model.get("genre"), "language": "en"}
            yield _line(words.renew(document) | fields)
            number += 1


def delivery_lines(source: Path, count: int, seed: int = 1) -> Iterator[str]:
    """So many documents of the last day of a growing archive, which it does not have; others by each seed."""
    documents = recombine(list(read(source)), 0, random.Random(f"{seed} delivery"))
    for document in islice(documents, count):
        yield _line(document | {"id": f"new{seed}-{document['id']}", "date": LAST_DAY.isoformat()})


class NewWords:
    """The words of each part of a growing archive, whose parts begin in turn.

    `exponent` is that of Heaps' law, estimated from an eighth, a quarter, a half and all of the documents in
    random order. `size` is the number of words of the collection.
    """

    def __init__(self, documents: list[Document], seed: int = 1) -> None:
        counts, sizes = _count_words(documents, seed)
        self.size = len(counts)
        documents_read, words = np.log(np.array(sizes, float)).T
        self.exponent = float(np.polyfit(documents_read, words, 1)[0])
        rare = [word for word, count in counts.items() if count <= RARE]
        self._number = {word: number for number, word in enumerate(rare)}
        self._parts = np.zeros((1, len(rare)), np.int16)
        """The part whose form of each rare word stands in each part; 0 is the word itself."""
        self._endings: list[str] = []
        texts = {text for document in documents for text in _texts(document)}
        self._pieces = {text: pieces for text in texts if len(pieces := list(self._split(text))) > 1}
        self._rng = np.random.default_rng(seed)

    def begin(self, part: int) -> None:
        """Choose the words of the next part."""
        if part:
            words = np.arange(len(self._number))
            forms = self._parts[self._rng.integers(0, part, len(words)), words]
            new = min(self.expected(part + 1) - self.expected(part), len(words))
            forms[self._rng.choice(words, new, replace=False)] = part
            self._parts = np.concatenate([self._parts, forms[None]])
        endings = ["", *(_syllables(number) for number in range(1, part + 1))]
        self._endings = [endings[form] for form in self._parts[part].tolist()]

    def expected(self, parts: int) -> int:
        """The number of different words in so many parts by Heaps' law."""
        return round(self.size * math.pow(parts, self.exponent))

    def renew(self, document: Document) -> Document:
        """The document with the words of this part."""
        sentences = [
            {**sentence, "text": self._renew(sentence["text"])} for sentence in document["sentences"]
        ]
        title = document.get("title")
        return {**document, "title": title and self._renew(title), "sentences": sentences}

    def _renew(self, text: str) -> str:
        pieces = self._pieces.get(text)
        if pieces is None:
            return text
        return "".join(piece if isinstance(piece, str) else self._endings[piece] for piece in pieces)

    def _split(self, text: str) -> Iterator[str | int]:
        """The text in pieces, with the number of each rare word after it."""
        start = 0
        for match in _WORD.finditer(text):
            number = self._number.get(match[0].lower())
            if number is not None:
                yield text[start : match.end()]
                yield number
                start = match.end()
        yield text[start:]


def _count_words(documents: list[Document], seed: int) -> tuple[Counter[str], list[tuple[int, int]]]:
    """How often each word occurs, and the numbers of words and of different ones in samples, which grow."""
    shuffled = random.Random(seed).sample(documents, len(documents))
    counts: Counter[str] = Counter()
    sizes, start = [], 0
    for end in (len(shuffled) // share for share in (8, 4, 2, 1)):
        for text in (text for document in shuffled[start:end] for text in _texts(document)):
            counts.update(_WORD.findall(text.lower()))
        sizes.append((counts.total(), len(counts)))
        start = end
    return counts, sizes


def _texts(document: Document) -> Iterable[str]:
    title = document.get("title")
    return [*([title] if title else []), *(sentence["text"] for sentence in document["sentences"])]


def _syllables(number: int) -> str:
    """Two syllables for a number below 1,521; no word of English ends with them as with a suffix."""
    syllables = [consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS]
    return syllables[number // len(syllables)] + syllables[number % len(syllables)]


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
