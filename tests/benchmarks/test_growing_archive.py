"""The growing archive of the benchmarks: its words follow Heaps' law, and its documents come in time."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.speed import corpus

pytestmark = pytest.mark.slow

DOCUMENTS, PARTS = 400, 6


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Documents of words with the frequencies of Zipf's law, so that many occur once."""
    chance = random.Random(3)
    path = tmp_path / "documents.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(DOCUMENTS):
            texts = [" ".join(f"w{int(chance.paretovariate(0.7))}" for _ in range(10)) for _ in range(4)]
            sentences = [{"text": text} for text in texts]
            fields = {"id": f"d{number}", "date": "1999-01-01", "source": "toy", "genre": "news"}
            file.write(json.dumps({**fields, "sentences": sentences}) + "\n")
    return path


def read_parts(source: Path) -> list[list[corpus.Document]]:
    documents = list(map(json.loads, corpus.archive_lines(source, PARTS)))
    return [documents[start : start + DOCUMENTS] for start in range(0, len(documents), DOCUMENTS)]


def words(documents: list[corpus.Document]) -> Counter[str]:
    return Counter(
        word for document in documents for part in document["sentences"] for word in part["text"].split()
    )


def test_the_vocabulary_follows_the_law_of_the_collection(source: Path) -> None:
    law = corpus.NewWords(list(corpus.read(source)))
    assert 0.4 < law.exponent < 0.9
    seen: set[str] = set()
    for number, part in enumerate(read_parts(source), 1):
        seen |= set(words(part))
        assert len(seen) == pytest.approx(law.expected(number), abs=1)


def test_new_words_recur_in_later_parts(source: Path) -> None:
    old, *parts = map(words, read_parts(source))
    new = set(parts[0]) - set(old)
    assert new
    assert any(new & set(part) for part in parts[1:])


def test_frequent_words_and_numbers_of_words_remain(source: Path) -> None:
    first, *parts = map(words, read_parts(source))
    frequent = {word: count for word, count in first.items() if count > corpus.RARE}
    for part in parts:
        assert {word: part[word] for word in frequent} == frequent
        assert part.total() == first.total()


def test_documents_come_in_order_of_time_from_the_first_day_to_the_last(source: Path) -> None:
    documents = [document for part in read_parts(source) for document in part]
    dates = [document["date"] for document in documents]
    assert all(earlier <= later for earlier, later in pairwise(dates))
    assert (dates[0], dates[-1]) == (corpus.FIRST_DAY.isoformat(), corpus.LAST_DAY.isoformat())
    assert len({day[:7] for day in dates}) == corpus.MONTHS
    assert len({document["id"] for document in documents}) == len(documents)
    assert {document["section"] for document in documents} == {"news"}


def test_a_delivery_is_new_and_of_the_last_day(source: Path) -> None:
    loaded = {document["id"] for part in read_parts(source) for document in part}
    delivered = list(map(json.loads, corpus.delivery_lines(source, 7)))
    assert len(delivered) == 7
    assert not loaded & {document["id"] for document in delivered}
    assert {document["date"] for document in delivered} == {corpus.LAST_DAY.isoformat()}
