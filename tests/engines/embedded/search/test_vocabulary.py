from __future__ import annotations

from pathlib import Path

import pytest

import esr
from esr.engines.segments.writer import segment_builder
from tests.support.elasticsearch import document, load


def test_similar_words_are_counted_over_all_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_builder, "FULL_TERMS", 1)  # each document fills a segment
    where = str(tmp_path / "index")
    texts = ("The election", "An election and an election", "Elections, ejection")
    load(where, [document("d0", *texts), *(document(f"d{n}", "An election, an erection") for n in (1, 2))])
    with esr.open(where) as searcher:
        similar = searcher.index.similar_words
        assert similar("electon", 2, 5) == {"election": 5}  # no segment has it as often
        assert similar("electon", 2, 1) == {"election": 5, "elections": 1, "ejection": 1, "erection": 2}
        assert similar("electon", 2, 2) == {"election": 5, "erection": 2}
        assert similar("electon", 1, 1) == {"election": 5}
        assert similar("electon", 2, 6) == {}
