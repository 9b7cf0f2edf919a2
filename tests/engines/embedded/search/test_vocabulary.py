from __future__ import annotations

from pathlib import Path

import esr
from esr.engines.factory import LoadOptions, open_delivery
from tests.support.elasticsearch import document, load, located


def test_similar_words_are_counted_over_all_segments(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    load(where, [document("d0", "The election", "An election and an election", "Elections, erection")])
    for number in (1, 2):
        delivery = open_delivery(where, LoadOptions())
        delivery.append(located([document(f"d{number}", "An election and an erection")]))
    with esr.open(where) as searcher:
        similar = searcher.index.similar_words
        assert similar("electon", 2, 5) == {"election": 5}  # no segment has it as often
        assert similar("electon", 2, 1) == {"election": 5, "elections": 1, "erection": 3}
        assert similar("electon", 2, 3) == {"election": 5, "erection": 3}
        assert similar("electon", 1, 1) == {"election": 5}
        assert similar("electon", 2, 6) == {}
