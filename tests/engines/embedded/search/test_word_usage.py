from __future__ import annotations

from pathlib import Path

import pytest

from esr.engines.embedded.index import EmbeddedIndex
from esr.engines.embedded.search import word_usage
from esr.engines.embedded.search.candidates import count_masked
from esr.engines.embedded.search.document_cache import DocumentCache
from esr.engines.embedded.search.search_memory import SearchMemory
from esr.engines.embedded.search.word_search import PlaceCache
from esr.engines.embedded.search.word_usage import WordUsage
from esr.engines.filters import NO_FILTERS
from esr.engines.segments.writer import segment_builder
from esr.engines.written_forms import SAMPLE
from esr.plans.condition import HasWords
from tests.support.folder_index import append, document, load


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Segments of one document each. The word rain is in titles, too."""
    monkeypatch.setattr(segment_builder, "FULL_TERMS", 1)
    texts = ("Rain, rain and RAIN", "No rain", "The sun", "RAIN again")
    documents = [document(f"d{n}", *texts[n % 3 :], title="Rain rain") for n in range(3)]
    load(tmp_path / "index", documents)
    return tmp_path / "index"


def test_a_sentence_counts_once_and_a_title_does_not(where: Path) -> None:
    cache = EmbeddedIndex(str(where))._latest()
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
    before = index._latest().word_usage.count_sentences("rain")
    append(where, document("new", "rain", "rain"))
    assert index._latest().word_usage.count_sentences("rain") == before + 2


def make_usage(where: Path, memory: SearchMemory) -> WordUsage:
    snapshot = EmbeddedIndex(str(where))._latest().snapshot
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
    monkeypatch.setattr(word_usage, "_ENTRY_BYTES", 100_000)
    memory = SearchMemory(1 << 20)
    usage = make_usage(where, memory)
    before = memory.used
    usage.count_sentences("rain")
    assert memory.used >= before + 100_000
