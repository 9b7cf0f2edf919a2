"""What is news of a corrected document, and which days are unusual."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from esr.alerts.told import find_news
from esr.alerts.usual import judge_day
from esr.following.alerts.atom import text_digest

TOLD = "The flood reached the town on Monday."


def news_of(sentences: Sequence[str], told: Sequence[str] = (TOLD,)) -> list[str]:
    known = {text_digest(text): text for text in told}
    numbers, _ = find_news(sentences, known, {text_digest(text) for text in sentences})
    return [sentences[number] for number in numbers]


def test_a_told_sentence_that_moves_is_no_news() -> None:
    assert news_of(["A flood came.", TOLD]) == ["A flood came."]


def test_the_new_wording_of_a_told_sentence_is_no_news() -> None:
    assert news_of(["The flood reached the old town on Tuesday."]) == []


def test_a_sentence_beside_a_told_one_is_news_however_similar() -> None:
    other = "The flood reached the town on Tuesday."
    assert news_of([TOLD, other]) == [other]


def test_a_new_wording_that_stands_twice_is_no_news() -> None:
    new = "The flood reached the old town on Tuesday."
    assert news_of([new, "A flood came.", new]) == ["A flood came."]


def test_a_told_sentence_has_one_new_wording() -> None:
    near, far = "The flood reached the town on Sunday.", "The flood reached the village on Sunday night."
    assert news_of([far, near]) == [far]


def test_half_of_the_words_make_a_new_wording() -> None:
    assert news_of(["One two four."], told=["One two three."]) == []
    assert news_of(["One four five."], told=["One two three."]) == ["One four five."]
    assert news_of(["!"], told=["?"]) == ["!"], "no words are no wording"


def test_another_sentence_in_place_of_a_told_one_is_news() -> None:
    assert news_of(["Floods are rare here, said the mayor."]) == ["Floods are rare here, said the mayor."]


def test_a_sentence_that_stands_twice_is_told_once() -> None:
    assert news_of(["Flood!", "Flood!"], told=()) == ["Flood!"]


@pytest.mark.parametrize(
    ("before", "count", "is_unusual"),
    [
        ([0] * 28, 5, True),
        ([0] * 28, 4, False),
        ([100] * 28, 125, False),
        ([100] * 28, 130, False),
        ([100] * 28, 131, True),
        ([10, 12] * 13 + [500, 900], 25, True),
        ([0, 20] * 14, 54, False),
        ([0, 20] * 14, 55, True),
        ([20, *[0, 20] * 14], 40, False),  # the 29th day before it does not count
        ([1] * 6, 50, False),
        ([1] * 7, 50, True),
    ],
)
def test_a_day_is_unusual_above_the_limit(before: list[int], count: int, is_unusual: bool) -> None:
    counts = {**dict(enumerate(before)), len(before): count}
    totals = dict.fromkeys(range(len(before) + 1), 1_000)
    assert (judge_day(counts, len(before), totals) is not None) == is_unusual


@pytest.mark.parametrize(("days", "is_judged"), [(56, True), (57, False)])
def test_what_is_usual_is_that_of_eight_weeks(days: int, is_judged: bool) -> None:
    totals = {**dict.fromkeys(range(94, 100), 10), 100 - days: 10, 100: 1_000}
    assert (judge_day({100: 6}, 100, totals) is not None) == is_judged


def test_days_without_documents_are_not_usual_ones() -> None:
    counts = {100: 6}
    assert judge_day(counts, 100, dict.fromkeys(range(50, 101), 1_000)) is not None
    assert judge_day(counts, 100, dict.fromkeys(range(94, 101), 1_000)) is None, "too few days"
    every_other = dict.fromkeys(range(80, 101, 2), 1_000)
    assert judge_day({**dict.fromkeys(range(80, 100, 2), 6), 100: 6}, 100, every_other) is None


def test_a_day_with_more_documents_has_more_sentences_without_being_unusual() -> None:
    totals = {**dict.fromkeys(range(20), 1_000), 20: 5_000}
    assert judge_day({**dict.fromkeys(range(20), 10), 20: 50}, 20, totals) is None
    assert judge_day({**dict.fromkeys(range(20), 10), 20: 90}, 20, totals) is not None
