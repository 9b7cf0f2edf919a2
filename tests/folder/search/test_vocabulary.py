from __future__ import annotations

import random
from pathlib import Path

import pytest
from rapidfuzz.distance import OSA

from esr.folder.search import vocabulary
from esr.folder.write import segment_writer
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import document, load


def test_similar_words_are_counted_over_all_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 1)  # each document fills a segment
    where = str(tmp_path / "index")
    texts = ("The election", "An election and an election", "Elections, ejection")
    load(where, [document("d0", *texts), *(document(f"d{n}", "An election, an erection") for n in (1, 2))])
    with open_searcher(where) as searcher:
        similar = searcher.index.similar_words
        assert similar("electon", 2, 5) == {"election": 5}  # no segment has it as often
        assert similar("electon", 2, 1) == {"election": 5, "elections": 1, "ejection": 1, "erection": 2}
        assert similar("electon", 2, 2) == {"election": 5, "erection": 2}
        assert similar("electon", 1, 1) == {"election": 5}
        assert similar("electon", 2, 6) == {}


@pytest.mark.parametrize("full", [1, None])
def test_similar_words_are_those_that_a_comparison_with_all_words_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: int | None
) -> None:
    if full:
        monkeypatch.setattr(segment_writer, "FULL_TERMS", 40)
    rng, where = random.Random(1), str(tmp_path / "index")
    words = ["".join(rng.choices("abcdé東'1𝒳", k=rng.randrange(1, 7))) for _ in range(400)]
    load(where, [document(f"d{n}", " ".join(rng.choices(words, k=60))) for n in range(20)])
    with open_searcher(where) as searcher:
        index = searcher.index
        counts = dict(index.words_with_prefix("", 10_000))
        assert len(counts) > 150
        for word in [*rng.sample(sorted(counts), 60), "abc", "東東", "é", "zzzzzz"]:
            for max_edits in (1, 2):
                for least in (1, 2, 5):
                    expected = {
                        other: count
                        for other, count in counts.items()
                        if other != word
                        and count >= least
                        and OSA.distance(word, other) <= max_edits
                        # Nobody slips from ASCII into a script of longer characters.
                        and not (word.isascii() and len(other.encode()) > len(word) + max_edits)
                    }
                    assert index.similar_words(word, max_edits, least) == expected


def test_similar_words_are_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, looked_for = str(tmp_path / "index"), []
    load(where, [document("d0", "The election, elections")])
    near = vocabulary._FrequentWords.near

    def record(words: vocabulary._FrequentWords, encoded: bytes, *limits: int) -> dict[str, int]:
        looked_for.append((encoded, *limits))
        return near(words, encoded, *limits)

    monkeypatch.setattr(vocabulary._FrequentWords, "near", record)
    with open_searcher(where) as searcher:
        similar = searcher.index.similar_words
        assert similar("electon", 2, 1) == similar("electon", 2, 1) == {"election": 1, "elections": 1}
        assert len(looked_for) == 1
        assert similar("electon", 1, 1) == {"election": 1}
        assert similar("electon", 2, 2) == {}
        load(where, [document("d1", "An election")], if_exists="append")
        assert similar("electon", 2, 2) == {"election": 2}
