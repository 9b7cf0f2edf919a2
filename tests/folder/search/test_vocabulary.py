"""Phrases and prefixes in one segment, with the kernel and without."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz.distance import OSA

from esr.folder.format.words import WordTable
from esr.folder.index import EmbeddedIndex
from esr.folder.search import vocabulary, word_usage
from esr.folder.search.candidates import count_masked
from esr.folder.search.kernel_loader import KERNEL, LOADER
from esr.folder.search.records import DocumentCache
from esr.folder.search.word_positions import PositionCache, find_phrase, find_prefix, mask_prefix
from esr.folder.search.word_usage import WordUsage
from esr.folder.write import segment_writer
from esr.folder.write.segment_writer import TokenizedTexts, save_word_table
from esr.index.filters import NO_FILTERS
from esr.index.limits import SearchMemory
from esr.index.names import SAMPLE
from esr.index.questions import SimilarWords, WordsWithPrefix, WrittenForms
from esr.plans.plan import HasWords
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import document as bare_document
from tests.support.elasticsearch import load as load_bare
from tests.support.folder_index import append, document, load
from tests.support.runs import need

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
    table, cache = write(tmp_path / "table", sentences), PositionCache(SearchMemory(1 << 20))
    for prefix in ("a", "ab", "w", "w1", "", "𝒳", "zz"):
        expected = [any(word.startswith(prefix) for word in words) for words in sentences]
        assert mask_prefix(table, prefix, len(sentences), cache).tolist() == expected
        assert set(cache.of(table).sentences(find_prefix(table, prefix, cache)).tolist()) == set(
            np.flatnonzero(expected)
        )


@pytest.mark.parametrize("seed", range(5))
def test_a_phrase_is_found_where_its_words_follow_each_other(tmp_path: Path, seed: int) -> None:
    sentences = random_sentences(seed)
    table, cache = write(tmp_path / "table", sentences), PositionCache(SearchMemory(1 << 20))
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
    monkeypatch.setattr("esr.folder.search.word_positions.FREQUENT_WORD", 1)
    memory = SearchMemory(2500)  # for where words occur, and the places of one word
    table, cache = write(tmp_path / "table", [["a", "b", "a"], ["b", "a"]]), PositionCache(memory)
    number = table.find("a")
    assert number is not None
    positions = cache.get(table, number)
    assert cache.get(table, number) is positions
    for word in ("b", "ab", "w1", "a", "b"):
        other = table.find(word)
        assert other is not None
        assert cache.get(table, other).tolist() == table.read_positions().positions(other).tolist()
    assert len(memory) == 2


def test_where_words_occur_counts_as_much_as_it_takes(tmp_path: Path) -> None:
    memory = SearchMemory(1 << 20)
    table, cache = write(tmp_path / "table", random_sentences(1) * 40), PositionCache(memory)
    positions = cache.of(table)
    assert cache.of(table) is positions
    lists = sum(column.nbytes for column in (positions.position_lists.rank, positions.position_lists.before))
    starts = positions.sentence_starts.nbytes + positions.block_sentences.nbytes
    assert memory.used >= positions.nbytes > starts + lists
    assert positions.nbytes < 2 * (starts + lists) + 10_000


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
    assert index.vocabulary(WrittenForms(["rain", "sun", "unseen"])) == ["RAIN", "sun", "unseen"]


def test_only_the_first_sentences_are_read(tmp_path: Path) -> None:
    texts = ["Rain"] * (SAMPLE // 2) + ["RAIN"] * (SAMPLE // 2 - 1) + ["A RAIN or a RAIN"] * 2
    load(tmp_path / "index", [document("d", *texts)])
    index = EmbeddedIndex(str(tmp_path / "index"))
    assert index.vocabulary(WrittenForms(["rain"])) == ["RAIN"]
    load(tmp_path / "index", [document("d", *texts[:-2], "Rain", *texts[-2:])], if_exists="replace")
    assert index.vocabulary(WrittenForms(["rain"])) == ["Rain"]


def test_an_index_that_grows_is_counted_anew(where: Path) -> None:
    index = EmbeddedIndex(str(where))
    before = index.cache.word_usage.count_sentences("rain")
    append(where, document("new", "rain", "rain"))
    assert index.cache.word_usage.count_sentences("rain") == before + 2


def make_usage(where: Path, memory: SearchMemory) -> WordUsage:
    snapshot = EmbeddedIndex(str(where)).cache.snapshot
    return WordUsage(snapshot, PositionCache(memory), DocumentCache(snapshot.segments, memory), memory)


def test_what_is_known_of_words_is_remembered_within_the_limit(where: Path) -> None:
    memory = SearchMemory(1 << 20)
    usage = make_usage(where, memory)
    for n in range(1000):
        assert usage.count_sentences(f"unseen{n}") == 0
    assert memory.used < 10_000
    assert usage.count_sentences("rain") == usage.count_sentences("rain") == 6
    assert memory.used <= memory.limit


def test_what_is_remembered_counts_towards_the_limit(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_usage, "ENTRY_BYTES", 100_000)
    memory = SearchMemory(1 << 20)
    usage = make_usage(where, memory)
    before = memory.used
    usage.count_sentences("rain")
    assert memory.used >= before + 100_000


def test_similar_words_are_counted_over_all_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 1)  # each document fills a segment
    where = str(tmp_path / "index")
    texts = ("The election", "An election and an election", "Elections, ejection")
    load_bare(
        where,
        [bare_document("d0", *texts), *(bare_document(f"d{n}", "An election, an erection") for n in (1, 2))],
    )
    with open_searcher(where) as searcher:

        def similar(word: str, max_edits: int, least: int) -> Mapping[str, int]:
            return searcher.index.vocabulary(SimilarWords(word, max_edits, least))

        assert similar("electon", 2, 5) == {"election": 5}  # no segment has it as often
        assert similar("electon", 2, 1) == {"election": 5, "elections": 1, "ejection": 1, "erection": 2}
        assert similar("electon", 2, 2) == {"election": 5, "erection": 2}
        assert similar("electon", 1, 1) == {"election": 5}
        assert similar("electon", 2, 6) == {}


@pytest.mark.slow
@pytest.mark.parametrize("full", [1, None])
def test_similar_words_are_those_that_a_comparison_with_all_words_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: int | None
) -> None:
    if full:
        monkeypatch.setattr(segment_writer, "FULL_TERMS", 40)
    rng, where = random.Random(1), str(tmp_path / "index")
    words = ["".join(rng.choices("abcdé東'1𝒳", k=rng.randrange(1, 7))) for _ in range(400)]
    load_bare(where, [bare_document(f"d{n}", " ".join(rng.choices(words, k=60))) for n in range(20)])
    with open_searcher(where) as searcher:
        index = searcher.index
        counts = dict(index.vocabulary(WordsWithPrefix("", 10_000)))
        assert len(counts) > 150
        for word in [*rng.sample(sorted(counts), 30), "abc", "東東", "é", "zzzzzz"]:
            edits = {other: OSA.distance(word, other) for other in counts if other != word}
            near = {other: distance for other, distance in edits.items() if distance <= 2}
            for max_edits in (1, 2):
                for least in (1, 2, 5):
                    expected = {
                        other: counts[other]
                        for other, distance in near.items()
                        if counts[other] >= least
                        and distance <= max_edits
                        # Nobody slips from ASCII into a script of longer characters.
                        and not (word.isascii() and len(other.encode()) > len(word) + max_edits)
                    }
                    assert index.vocabulary(SimilarWords(word, max_edits, least)) == expected


def test_similar_words_are_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, looked_for = str(tmp_path / "index"), []
    load_bare(where, [bare_document("d0", "The election, elections")])
    near = vocabulary.FrequentWords.near

    def record(words: vocabulary.FrequentWords, encoded: bytes, *limits: int) -> dict[str, int]:
        looked_for.append((encoded, *limits))
        return near(words, encoded, *limits)

    monkeypatch.setattr(vocabulary.FrequentWords, "near", record)
    with open_searcher(where) as searcher:

        def similar(word: str, max_edits: int, least: int) -> Mapping[str, int]:
            return searcher.index.vocabulary(SimilarWords(word, max_edits, least))

        assert similar("electon", 2, 1) == similar("electon", 2, 1) == {"election": 1, "elections": 1}
        assert len(looked_for) == 1
        assert similar("electon", 1, 1) == {"election": 1}
        assert similar("electon", 2, 2) == {}
        load_bare(where, [bare_document("d1", "An election")], if_exists="append")
        assert similar("electon", 2, 2) == {"election": 2}
