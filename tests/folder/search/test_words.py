"""Phrases and prefixes in one segment, with the kernel and without."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from esr.folder.format.words import WordTable
from esr.folder.index import EmbeddedIndex
from esr.folder.search import words
from esr.folder.search.candidates import count_masked
from esr.folder.search.kernel_loader import KERNEL, LOADER
from esr.folder.search.memory import SearchMemory
from esr.folder.search.records import DocumentCache
from esr.folder.search.words import PlaceCache, WordUsage, find_phrase, find_prefix, mask_prefix
from esr.folder.write import segment_writer
from esr.folder.write.columns import TokenizedTexts, save_word_table
from esr.index.filters import NO_FILTERS
from esr.index.names import SAMPLE
from esr.plans.condition import HasWords
from tests.support.folder_index import append, document, load
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
    monkeypatch.setattr("esr.folder.search.words._FREQUENT", 1)
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


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Segments of one document each. The word rain is in titles, too."""
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 1)
    texts = ("Rain, rain and RAIN", "No rain", "The sun", "RAIN again")
    documents = [document(f"d{n}", *texts[n % 3 :], title="Rain rain") for n in range(3)]
    load(tmp_path / "index", documents)
    return tmp_path / "index"


def test_a_sentence_counts_once_and_a_title_does_not(where: Path) -> None:
    cache = EmbeddedIndex(str(where)).cache
    assert len(cache.snapshot.segments) > 1
    for word in ("rain", "sun", "the", "again", "unseen", ""):
        assert cache.word_usage.count_sentences(word) == count_masked(HasWords((word,)), cache, NO_FILTERS)
    assert cache.word_usage.count_sentences("rain") == 6


def test_the_most_frequent_form_is_taken_and_of_several_the_first(where: Path) -> None:
    index = EmbeddedIndex(str(where))
    assert index.written_forms(["rain", "sun", "unseen"]) == ["RAIN", "sun", "unseen"]


def test_only_the_first_sentences_are_read(tmp_path: Path) -> None:
    texts = ["Rain"] * (SAMPLE // 2) + ["RAIN"] * (SAMPLE // 2 - 1) + ["A RAIN or a RAIN"] * 2
    load(tmp_path / "index", [document("d", *texts)])
    index = EmbeddedIndex(str(tmp_path / "index"))
    assert index.written_forms(["rain"]) == ["RAIN"]
    load(tmp_path / "index", [document("d", *texts[:-2], "Rain", *texts[-2:])], if_exists="replace")
    assert index.written_forms(["rain"]) == ["Rain"]


def test_an_index_that_grows_is_counted_anew(where: Path) -> None:
    index = EmbeddedIndex(str(where))
    before = index.cache.word_usage.count_sentences("rain")
    append(where, document("new", "rain", "rain"))
    assert index.cache.word_usage.count_sentences("rain") == before + 2


def make_usage(where: Path, memory: SearchMemory) -> WordUsage:
    snapshot = EmbeddedIndex(str(where)).cache.snapshot
    return WordUsage(snapshot, PlaceCache(memory), DocumentCache(snapshot.segments, memory), memory)


def test_what_is_known_of_words_is_remembered_within_the_limit(where: Path) -> None:
    memory = SearchMemory(1 << 20)
    usage = make_usage(where, memory)
    for n in range(1000):
        assert usage.count_sentences(f"unseen{n}") == 0
    assert memory.used < 10_000
    assert usage.count_sentences("rain") == usage.count_sentences("rain") == 6
    assert memory.used <= memory.limit


def test_what_is_remembered_counts_towards_the_limit(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_ENTRY_BYTES", 100_000)
    memory = SearchMemory(1 << 20)
    usage = make_usage(where, memory)
    before = memory.used
    usage.count_sentences("rain")
    assert memory.used >= before + 100_000
