from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from esr import analysis
from esr.engines.index import Hit
from tests.support.fake_index import STORM
from webui.answers.near_duplicates import FoldedHit, fold_near_duplicates, jaccard

ANALYZER = analysis.get("english-stem")
WORDS = "alpha beta gamma delta omega sigma kappa zeta theta iota"


def hits(*texts: str) -> list[Hit]:
    return [Hit(f"s{n}", -float(n), replace(STORM, text=text)) for n, text in enumerate(texts)]


def fold(*texts: str) -> list[FoldedHit]:
    return fold_near_duplicates(hits(*texts), ANALYZER)


def folded_ids(*texts: str) -> list[tuple[str, list[str]]]:
    return [(f.hit.sentence_id, [h.sentence_id for h in f.similar]) for f in fold(*texts)]


def test_sentences_with_the_same_terms_are_folded_below_the_best() -> None:
    assert folded_ids("The storms came.", "A flood.", "A storm came!") == [("s0", ["s2"]), ("s1", [])]


def test_nine_shared_terms_of_ten_make_a_near_duplicate_and_eight_do_not() -> None:
    nine = WORDS.rsplit(" ", 1)[0]
    eight = nine.rsplit(" ", 1)[0]
    assert folded_ids(WORDS, nine) == [("s0", ["s1"])]
    assert folded_ids(WORDS, eight) == [("s0", []), ("s1", [])]


def test_sentences_without_a_term_are_not_alike() -> None:
    assert folded_ids("And the.", "Of the.") == [("s0", []), ("s1", [])]
    assert jaccard(frozenset(), frozenset()) == 0.0


@given(st.lists(st.lists(st.sampled_from(WORDS.split()), max_size=4).map(" ".join), max_size=12))
def test_each_hit_appears_once_and_more_hits_change_no_leader(texts: list[str]) -> None:
    folded = fold(*texts)
    ids = [hit.sentence_id for f in folded for hit in (f.hit, *f.similar)]
    assert sorted(ids) == sorted(f"s{n}" for n in range(len(texts)))
    leaders = [f.hit for f in fold(*texts[: len(texts) // 2])]
    assert [f.hit for f in folded][: len(leaders)] == leaders
