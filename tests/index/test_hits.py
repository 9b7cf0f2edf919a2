"""Hits whose ids are read when somebody looks at them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from esr.index.hits import Hit, LazyHits, Places
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import document, load

HITS = [Hit("s7", 2.0, None, 7), Hit("s3", 1.5, None, 3), Hit("s9", 1.5, None, 9)]


def lazy_hits(read: list[int]) -> LazyHits:
    """The hits above; what is read is noted."""

    ordinals, scores = np.array([hit.ordinal for hit in HITS]), np.array([hit.score for hit in HITS])

    def names(places: Places) -> list[str]:
        read.extend(ordinals[places].tolist())
        return [f"s{ordinal}" for ordinal in ordinals[places].tolist()]

    return LazyHits(ordinals, scores, names)


def test_ids_are_read_once_and_not_before_a_hit_is_looked_at() -> None:
    read: list[int] = []
    hits = lazy_hits(read)
    assert len(hits) == 3 and bool(hits) and not read
    assert hits[1] == HITS[1] and list(hits) == HITS and hits[:2] == HITS[:2]
    assert read == [7, 3, 9]


def test_the_ids_alone_are_read_at_the_first_look_too() -> None:
    read: list[int] = []
    ids = lazy_hits(read).ids
    assert len(ids) == 3 and not read
    assert ids[1] == "s3" and list(ids) == ["s7", "s3", "s9"] and ids[1:] == ["s3", "s9"]
    assert read == [7, 3, 9]


def test_of_hits_that_are_scored_anew_only_the_wanted_ids_are_read() -> None:
    read: list[int] = []
    hits = lazy_hits(read).head(2)
    assert hits.rescored(np.array([1]), np.array([9.0])) == [Hit("s3", 9.0, None, 3)]
    assert read == [3] and len(hits) == 2


def test_hits_in_a_list_become_columns() -> None:
    repeated = [Hit("a", 2.0, None), Hit("b", 1.0, None)]
    hits = LazyHits.of(repeated)
    assert hits == repeated and list(hits.ids) == ["a", "b"]
    assert hits.rescored(np.array([1, 0]), np.array([5.0, 4.0])) == [Hit("b", 5.0, None), Hit("a", 4.0, None)]
    assert LazyHits.of(hits) is hits and hits.head(5) is hits


def test_they_equal_the_same_hits() -> None:
    hits = lazy_hits([])
    assert hits == HITS and hits == lazy_hits([])
    assert hits != HITS[:2] and repr(hits) == repr(HITS)


def test_an_index_that_is_gone_still_names_what_it_found(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    load(where, [document("old", "A flood at the bank.", "A river.")])
    with open_searcher(where) as searcher:
        hits = searcher.search("flood", records=False).hits
        load(where, [document("new", "A flood.")], if_exists="replace", keep=0)
        assert searcher.search("flood", records=False).hits[0].sentence_id == "new.s0"
        assert hits[0].sentence_id == "old.s0"
