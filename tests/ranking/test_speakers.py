"""Speakers whom a query may mean."""

from __future__ import annotations

from pathlib import Path

from esr.ranking.searcher import open_searcher
from esr.ranking.speakers import suggest_speakers
from esr.text.document import Document, Quote, Sentence
from tests.support.elasticsearch import load


def test_a_speaker_with_one_word_mistyped_comes_before_one_with_two(tmp_path: Path) -> None:
    names = {"John Lee": 3, "Joan Lea": 1}
    sentences = [
        Sentence(
            f"{name} {n}", f'"It rains." {name} spoke.', quotes=(Quote(0, 11, name, name.lower(), "said"),)
        )
        for name, count in names.items()
        for n in range(count)
    ]
    load(str(tmp_path / "i"), [Document("a", tuple(sentences))])
    with open_searcher(str(tmp_path / "i")) as searcher:
        found = suggest_speakers(searcher.index, "Jon Lea")
        assert [speaker.name for speaker in found] == ["Joan Lea", "John Lee"]
