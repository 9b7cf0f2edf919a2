"""Hits whose ids are read when somebody looks at them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import esr
from esr.engines.embedded.search.lazy_hits import LazyHits
from esr.engines.embedded.search.top_k import Numbers, TopK
from esr.engines.index import Hit
from tests.support.elasticsearch import document, load

HITS = [Hit("s7", 2.0, None, 7), Hit("s3", 1.5, None, 3), Hit("s9", 1.5, None, 9)]


def lazy_hits(read: list[int]) -> LazyHits:
    """The hits above; what is read is noted."""

    def names(ordinals: Numbers) -> list[str]:
        read.extend(ordinals.tolist())
        return [f"s{order}" for order in ordinals.tolist()]

    numbers, scores = np.array([hit.ordinal for hit in HITS]), np.array([hit.score for hit in HITS])
    return LazyHits(TopK(numbers, scores, 10, 3), names)


def test_ids_are_read_once_and_not_before_a_hit_is_looked_at() -> None:
    read: list[int] = []
    hits = lazy_hits(read)
    assert len(hits) == 3 and bool(hits) and not read
    assert hits[1] == HITS[1] and list(hits) == HITS and hits[:2] == HITS[:2]
    assert read == [7, 3, 9]


def test_they_equal_the_same_hits() -> None:
    hits = lazy_hits([])
    assert hits == HITS and hits == lazy_hits([])
    assert hits != HITS[:2] and repr(hits) == repr(HITS)


def test_an_index_that_is_gone_still_names_what_it_found(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    load(where, [document("old", "A flood at the bank.", "A river.")])
    with esr.open(where) as searcher:
        hits = searcher.search("flood", records=False).hits
        load(where, [document("new", "A flood.")], if_exists="replace", keep=0)
        assert searcher.search("flood", records=False).hits[0].sentence_id == "new.s0"
        assert hits[0].sentence_id == "old.s0"
