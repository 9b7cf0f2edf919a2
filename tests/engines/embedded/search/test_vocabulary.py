from __future__ import annotations

from pathlib import Path

import esr
from esr.engines.factory import LoadOptions, open_delivery
from tests.support.elasticsearch import document, load, located


def test_similar_words_are_counted_over_all_segments(tmp_path: Path) -> None:
    """None of the segments has a word as often as is asked for."""
    where = str(tmp_path / "index")
    load(where, [document("d0", "The election", "Elections were held")])
    for number in (1, 2):
        delivery = open_delivery(where, LoadOptions())
        delivery.append(located([document(f"d{number}", "An election and an erection")]))
    with esr.open(where) as searcher:
        similar = searcher.index.similar_words
        assert similar("electon", 2, 3) == {"election": 3}  # the frequent words are read first
        assert similar("electon", 2, 1) == {"election": 3, "elections": 1, "erection": 2}
        assert similar("electon", 1, 1) == {"election": 3}
        assert similar("electon", 2, 3) == {"election": 3}
        assert similar("electon", 2, 4) == {}
