"""Phrases and prefixes in one segment, with the kernel and without."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from esr.engines.embedded.search.kernel_loader import KERNEL, LOADER
from esr.engines.embedded.search.search_memory import SearchMemory
from esr.engines.embedded.search.word_search import PlaceCache, find_phrase, find_prefix, mask_prefix
from esr.engines.segments.store.word_table import WordTable
from esr.engines.segments.writer.columns import TokenizedTexts
from esr.engines.segments.writer.word_places import save_word_table
from tests.support.needed import need

VOCABULARY = ["a", "ab", "abc", "b", "é", "東", "𝒳", *(f"w{n}" for n in range(30))]


def write(folder: Path, sentences: list[list[str]]) -> WordTable:
    """A table of one document with the title "ab w1"."""
    texts = [*sentences, ["ab", "w1"]]
    words = list(dict.fromkeys(word for text in texts for word in text))
    numbers = np.array([words.index(word) for text in texts for word in text], np.int32)
    lengths = np.array([len(text) for text in texts], np.int32)
    folder.mkdir()
    save_word_table(folder, words, TokenizedTexts(numbers, lengths, np.array([len(sentences)])))
    return WordTable(folder, len(sentences))


def random_sentences(seed: int) -> list[list[str]]:
    rng = random.Random(seed)
    return [
        [VOCABULARY[int(rng.paretovariate(0.7)) % len(VOCABULARY)] for _ in range(rng.randrange(9))]
        for _ in range(rng.randrange(1, 300))
    ]


@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_a_prefix_marks_the_sentences_that_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, is_compiled: bool
) -> None:
    kernel = need(KERNEL) if is_compiled else None
    monkeypatch.setattr(LOADER, "kernel", kernel)
    sentences = random_sentences(seed)
    table, cache = write(tmp_path / "table", sentences), PlaceCache(SearchMemory(1 << 20))
    for prefix in ("a", "ab", "w", "w1", "", "𝒳", "zz"):
        expected = [any(word.startswith(prefix) for word in words) for words in sentences]
        assert mask_prefix(table, prefix, len(sentences), cache).tolist() == expected
        assert set(cache.of(table).sentences(find_prefix(table, prefix, cache)).tolist()) == set(
            np.flatnonzero(expected)
        )


@pytest.mark.parametrize("seed", range(5))
def test_a_phrase_is_found_where_its_words_follow_each_other(tmp_path: Path, seed: int) -> None:
    sentences = random_sentences(seed)
    table, cache = write(tmp_path / "table", sentences), PlaceCache(SearchMemory(1 << 20))
    rng = random.Random(seed)
    for _ in range(60):
        phrase = rng.choices(["a", "ab", "abc", "w1", "w2", "b", "none"], k=rng.randint(1, 3))
        expected = [
            n
            for n, words in enumerate(sentences)
            for start in range(len(words))
            if words[start : start + len(phrase)] == phrase
        ]
        assert cache.of(table).sentences(find_phrase(table, phrase, cache)).tolist() == expected


def test_frequent_words_are_remembered_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esr.engines.embedded.search.word_search._FREQUENT", 1)
    memory = SearchMemory(2500)  # for where words occur, and the places of one word
    table, cache = write(tmp_path / "table", [["a", "b", "a"], ["b", "a"]]), PlaceCache(memory)
    number = table.find("a")
    assert number is not None
    places = cache.get(table, number)
    assert cache.get(table, number) is places
    for word in ("b", "ab", "w1", "a", "b"):
        other = table.find(word)
        assert other is not None
        assert cache.get(table, other).tolist() == table.read_places().places(other).tolist()
    assert len(memory) == 2


def test_where_words_occur_counts_as_much_as_it_takes(tmp_path: Path) -> None:
    memory = SearchMemory(1 << 20)
    table, cache = write(tmp_path / "table", random_sentences(1) * 40), PlaceCache(memory)
    places = cache.of(table)
    assert cache.of(table) is places
    lists = sum(column.nbytes for column in (places.place_lists.rank, places.place_lists.before))
    starts = places.sentence_starts.nbytes + places.block_sentences.nbytes
    assert memory.used >= places.nbytes > starts + lists
    assert places.nbytes < 2 * (starts + lists) + 10_000
