from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from esr import analysis
from esr.engines.index import Hit
from tests.webui.fake_index import STORM
from webui.answers.near_duplicates import fold, jaccard

ANALYZER = analysis.get("english-stem")
WORDS = "alpha beta gamma delta omega sigma kappa zeta theta iota"


def hits(*texts: str) -> list[Hit]:
    return [Hit(f"s{n}", -float(n), replace(STORM, text=text)) for n, text in enumerate(texts)]


def folded(*texts: str) -> list[tuple[str, list[str]]]:
    return [(f.hit.sentence_id, [h.sentence_id for h in f.similar]) for f in fold(hits(*texts), ANALYZER)]


def test_sentences_with_the_same_terms_are_folded_below_the_best() -> None:
    assert folded("The storms came.", "A flood.", "A storm came!") == [("s0", ["s2"]), ("s1", [])]


def test_nine_of_ten_terms_are_nearly_the_same_and_eight_are_not() -> None:
    nine = WORDS.rsplit(" ", 1)[0]
    eight = nine.rsplit(" ", 1)[0]
    assert folded(WORDS, nine) == [("s0", ["s1"])]
    assert folded(WORDS, eight) == [("s0", []), ("s1", [])]


def test_sentences_without_a_term_are_not_alike() -> None:
    assert folded("And the.", "Of the.") == [("s0", []), ("s1", [])]
    assert jaccard(frozenset(), frozenset()) == 0.0


@given(st.lists(st.lists(st.sampled_from(WORDS.split()), max_size=4).map(" ".join), max_size=12))
def test_every_hit_is_kept_once_and_more_hits_move_no_leader(texts: list[str]) -> None:
    found = fold(hits(*texts), ANALYZER)
    kept = [hit.sentence_id for f in found for hit in (f.hit, *f.similar)]
    assert sorted(kept) == sorted(f"s{n}" for n in range(len(texts)))
    half = [f.hit for f in fold(hits(*texts)[: len(texts) // 2], ANALYZER)]
    assert [f.hit for f in found][: len(half)] == half
