"""The measure of repeats, on terms alone: docs/formulas.md, G.1."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.errors import UsageError
from esr.following.overlap import (
    DEFAULT_THRESHOLD,
    FEW_TERMS,
    Overlap,
    check_threshold,
    contain,
    find_overlaps,
    group_repeats,
    parse_threshold,
)

WORDS = "alpha beta gamma delta omega sigma kappa zeta theta iota"


def weigh(terms: Collection[str]) -> Mapping[str, float]:
    """Common words weigh little."""
    return {term: 1.0 if term in ("she", "told", "reuters") else 5.0 for term in terms}


def overlaps(*texts: str) -> list[Overlap | None]:
    return find_overlaps([frozenset(text.split()) for text in texts], weigh)


def groups(*texts: str, threshold: float = DEFAULT_THRESHOLD) -> list[list[int]]:
    return group_repeats(overlaps(*texts), threshold)


def test_what_is_added_at_the_end_in_common_words_still_repeats() -> None:
    assert groups(WORDS, f"{WORDS} she told reuters") == [[0, 1]]
    assert groups("alpha beta gamma", "alpha beta gamma she told reuters") == [[0, 1]]


def test_the_share_is_of_the_weights_of_the_later_sentence() -> None:
    (_, overlap) = overlaps(WORDS, "alpha beta gamma delta omega sigma she told")
    assert overlap == Overlap(0, 30 / 32)


def test_a_sentence_that_says_more_is_new_and_one_that_says_less_is_not() -> None:
    assert groups("alpha beta gamma delta omega", WORDS) == [[0], [1]]
    assert groups(WORDS, "alpha beta gamma delta omega sigma kappa zeta") == [[0, 1]]


def test_few_terms_are_no_repeat_of_a_long_sentence_that_happens_to_have_them() -> None:
    assert groups(WORDS, "alpha beta") == [[0], [1]]
    assert groups("alpha beta", "beta alpha") == [[0, 1]]
    assert groups("alpha beta gamma delta omega", "alpha beta gamma") == [[0], [1]]


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (
            "explain hawaii block trump travel ban",
            "feder judg hawaii block trump revis travel ban hour befor take effect",
        ),
        (
            "brexit secretari david davi said",
            "brexit secretari david davi said mp had alreadi approv bill without ani string attach",
        ),
    ],
)
def test_a_short_sentence_is_no_repeat_of_a_long_one_on_the_same_event(short: str, long: str) -> None:
    assert groups(long, short) == [[0], [1]]
    assert groups(long, short, long) == [[0, 2], [1]]
    assert groups(short, short) == [[0, 1]]


def test_a_repeat_may_repeat_any_sentence_of_a_group() -> None:
    longer = f"{WORDS} she told reuters"
    assert groups(WORDS, longer, f"{longer} rho") == [[0, 1, 2]]
    assert groups(WORDS, "rho tau phi chi psi", longer) == [[0, 2], [1]]


def test_of_equal_shares_the_first_counts() -> None:
    assert overlaps("alpha beta", "beta alpha", "alpha beta") == [None, Overlap(0, 1.0), Overlap(0, 1.0)]


def test_sentences_without_a_term_are_new() -> None:
    assert overlaps("", "", "alpha") == [None, None, None]


def test_nothing_is_weighed_where_no_sentence_has_half_of_another() -> None:
    def refuse(terms: Collection[str]) -> Mapping[str, float]:
        raise AssertionError(terms)

    sentences = [frozenset(text.split()) for text in ("alpha beta gamma", "gamma delta omega", "sigma")]
    assert find_overlaps(sentences, refuse) == [None, None, None]


@pytest.mark.parametrize("text", ["0.49", "1.01", "nan", "inf", "-1", "", "much"])
def test_a_threshold_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"the overlap must be .*from 0\.5 to 1"):
        parse_threshold(text)
    assert (check_threshold(0.5), parse_threshold("1"), parse_threshold("0.75")) == (0.5, 1.0, 0.75)


SENTENCES = st.lists(st.frozensets(st.sampled_from([*WORDS.split(), "she", "told"]), max_size=8), max_size=12)


@given(SENTENCES)
def test_all_pairs_give_the_same_overlaps(sentences: list[frozenset[str]]) -> None:
    """A plain scan, without the look-up of rare terms."""
    weights = weigh([term for terms in sentences for term in terms])
    for place, found in enumerate(find_overlaps(sentences, weigh)):
        terms, shares = sentences[place], []
        for earlier in sentences[:place]:
            smaller = len(terms) if len(terms) >= FEW_TERMS else max(len(terms), len(earlier))
            has_half = terms and 2 * len(terms & earlier) >= smaller
            shares.append(contain(terms, earlier, weights) if has_half else -math.inf)
        best = max(shares, default=-math.inf)
        assert (found.share if found else -math.inf) == best
        if found is not None:
            wanted = terms if terms in sentences[:place] else sentences[shares.index(best)]
            assert sentences[found.place] == wanted


@given(SENTENCES, st.sampled_from([0.5, 0.8, 1.0]))
def test_each_sentence_is_in_one_group_and_more_of_them_change_no_group_before(
    sentences: list[frozenset[str]], threshold: float
) -> None:
    all_groups = group_repeats(find_overlaps(sentences, weigh), threshold)
    assert sorted(place for group in all_groups for place in group) == list(range(len(sentences)))
    half = len(sentences) // 2
    fewer = group_repeats(find_overlaps(sentences[:half], weigh), threshold)
    assert fewer == [group for each in all_groups if (group := [n for n in each if n < half])]
