from __future__ import annotations

from dataclasses import replace

import pytest

from esr import analysis
from esr.engines.index import Hit
from tests.webui.fake_index import STORM
from webui.answers.entries import Wish, arrange, cut, needed

ANALYZER = analysis.get("english-stem")
ROWS = [
    ("a", "2017-03-01"),
    ("b", "2018"),
    ("a", "2017-03-01"),
    ("c", None),
    ("d", "not a date"),
    ("b", "2018"),
]
HITS = [
    Hit(f"s{n}", -float(n), replace(STORM, text=f"word{n}", document_id=document, date=date))
    for n, (document, date) in enumerate(ROWS)
]


def arranged(wish: Wish) -> list[list[str]]:
    return [[f.hit.sentence_id for f in entry.folded] for entry in arrange(HITS, wish, ANALYZER)]


def test_by_score_the_order_is_that_of_the_engine() -> None:
    assert arranged(Wish()) == [["s0"], ["s1"], ["s2"], ["s3"], ["s4"], ["s5"]]


def test_by_date_the_newest_come_first_and_those_without_one_last() -> None:
    assert arranged(Wish(sort="date")) == [["s1"], ["s5"], ["s0"], ["s2"], ["s3"], ["s4"]]


def test_the_sentences_of_a_document_stand_together_by_their_best() -> None:
    assert arranged(Wish(group=True)) == [["s0", "s2"], ["s1", "s5"], ["s3"], ["s4"]]
    assert arranged(Wish("date", True))[0] == ["s1", "s5"]


@pytest.mark.parametrize(
    "wish", [Wish(), Wish("date"), Wish(group=True), Wish("date", True), Wish(fold=False)]
)
def test_more_moves_nothing_that_is_shown(wish: Wish) -> None:
    def shown(k: int) -> list[str]:
        hits = HITS[: needed(wish, k, 3)]
        return [entry.best.sentence_id for entry in cut(arrange(hits, wish, ANALYZER), k)]

    assert shown(3)[:2] == shown(2)


def test_a_page_is_full_where_each_sentence_came_twice() -> None:
    hits = [Hit(f"s{n}", -float(n), replace(STORM, text=f"word{n // 2}")) for n in range(60)]
    entries = cut(arrange(hits[: needed(Wish(), 10, 100)], Wish(), ANALYZER), 10)
    assert len(entries) == 10
    assert all(len(entry.folded[0].similar) == 1 for entry in entries)
