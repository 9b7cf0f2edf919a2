"""Searches keep what they made, up to a limit for all of it together."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from esr.errors import UsageError
from esr.folder.search.memory import SearchMemory
from esr.index.limits import DEFAULT_CACHE_LIMIT, VARIABLE
from esr.query import parse
from esr.ranking.searcher import open_searcher
from esr.text.document import Sentence
from tests.support.folder_index import document, load
from tests.support.threads import holds_in_threads

pytestmark = pytest.mark.slow

Numbers = npt.NDArray[np.int64]


def make(kilobytes: int) -> Numbers:
    return np.zeros(kilobytes * 128, np.int64)


def test_what_was_not_used_for_longest_is_dropped_first() -> None:
    memory = SearchMemory(30_000)
    first, second, third = (memory.get(name, lambda: make(8)) for name in "abc")
    assert memory.get("a", lambda: make(8)) is first
    memory.get("d", lambda: make(8))  # there is room for three
    assert memory.get("a", lambda: make(8)) is first
    assert memory.get("b", lambda: make(8)) is not second
    assert memory.get("c", lambda: make(8)) is not third
    assert memory.used <= 30_000


def test_a_value_that_grows_makes_room() -> None:
    memory = SearchMemory(100_000)
    memory.get("other", lambda: make(8))
    memory.get("grows", lambda: make(8))
    memory.resize("grows", 90_000)
    assert memory.used == 98_192 and len(memory) == 2
    memory.resize("grows", 95_000)
    assert memory.used == 95_000 and len(memory) == 1
    memory.resize("other", 1_000_000)  # which was dropped
    assert memory.used == 95_000


def test_a_value_above_the_limit_is_alone() -> None:
    memory = SearchMemory(10_000)
    memory.get("small", lambda: make(4))
    large = memory.get("large", lambda: make(50))
    assert memory.get("large", lambda: make(50)) is large
    assert len(memory) == 1


def test_many_small_values_count() -> None:
    memory = SearchMemory(250_000)
    for number in range(1000):
        memory.get(number, lambda: np.zeros(1))
    assert len(memory) < 300


def test_threads_get_one_value_of_a_key() -> None:
    memory = SearchMemory(40_000)

    def get(seed: int) -> bool:
        key = random.Random(seed).randrange(8)
        return bool((memory.get(key, lambda: np.full(1000, key)) == key).all())

    assert holds_in_threads(get, range(2000))
    assert memory.used == sum(size for _, size in memory._values.values()) <= 40_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    words = [f"w{n}" for n in range(40)]
    rng = random.Random(2)
    documents = []
    for n in range(3000):
        text = " ".join(rng.choices(words, k=12))
        documents.append(document(f"d{n}", Sentence(f"d{n}.s0", text, {"x": float(n % 7)}), text))
    load(tmp_path / "index", documents)
    return tmp_path / "index"


def test_searches_of_every_kind_stay_within_the_limit_and_find_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Impacts of several models, features, conditions and phrases: everything that is kept."""
    queries = [parse(f'w{n} +w{n + 1} -w{n + 2} "w{n} w{n + 3}"') for n in range(12)]
    queries += [parse(f"w{n} w{n + 1}") for n in range(12)]
    rankings = [
        {"model": "2si", "context": "both"},
        {"model": "bm25"},
        {"model": "dir", "features": [{"feature": "x", "form": "linear", "w": 2}]},
        {"model": "jm", "params": {"lambda": 0.3}, "priors": {"length": 1.0}},
    ]

    def answers() -> list[list[tuple[str, float]]]:
        with open_searcher(str(folder)) as searcher:
            searcher.index.warm_up()
            found = [
                [(hit.sentence_id, hit.score) for hit in searcher.search(query, 5, **ranking).hits]
                for ranking in rankings
                for query in queries
            ]
            memory = searcher.index.cache.memory  # type: ignore[attr-defined]
            assert len(memory) and memory.used <= memory.limit
            return found

    assert DEFAULT_CACHE_LIMIT > 10_000_000
    usual = answers()
    monkeypatch.setattr("esr.index.limits.LEAST", 1)
    monkeypatch.setenv(VARIABLE, "60000")
    assert answers() == usual


@pytest.mark.parametrize("text", ["", "much", "-5", "999999", "1e9"])
def test_a_limit_that_is_no_number_or_too_small_is_one_message(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(UsageError, match=f"{VARIABLE} must be a whole number of bytes, at least 1,000,000"):
        open_searcher(str(folder))
