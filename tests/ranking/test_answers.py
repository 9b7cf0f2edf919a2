"""Hits that stand next to each other are one passage, and a document has few passages in a list."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from esr.index.hits import Hit
from esr.ranking.answers import (
    MOST_OF_DOCUMENT,
    MOST_SENTENCES,
    Match,
    Passage,
    build_passages,
    describe_match,
    passage_dict,
    single,
    write_match,
)
from esr.text.analyzer import get_analyzer
from tests.support.fake_index import FLOOD, STORM


def hits(*places: str) -> list[Hit]:
    """Hits in the order of a list, each at a place such as `a3`, sentence 3 of document a."""
    return [
        Hit(
            place, -float(n), STORM._replace(document_id=place[0], position=int(place[1:]), sentence_id=place)
        )
        for n, place in enumerate(places)
    ]


def build(*places: str, most: int | None = MOST_OF_DOCUMENT) -> list[str]:
    """The passages in words: their sentences in order, the best marked, and the number of those left out."""
    return list(map(describe, build_passages([[hit] for hit in hits(*places)], most)))


def describe(passage: Passage) -> str:
    names = [f"*{hit.sentence_id}" if hit is passage.best else hit.sentence_id for hit in passage.sentences]
    return " ".join(names) + (f" +{passage.more}" if passage.more else "")


def test_neighbours_are_one_passage_at_the_place_of_the_best() -> None:
    assert build("a4", "b1", "a5", "a3", "b3") == ["a3 *a4 a5", "*b1", "*b3"]
    assert build("a1", "b2") == ["*a1", "*b2"]


def test_a_document_has_at_most_two_passages_and_the_second_counts_the_rest() -> None:
    assert build("a1", "a5", "a9", "b1", "a10", "a13", "a6") == ["*a1", "*a5 a6 +3", "*b1"]
    assert build("a1", "a5", "a9", "a10", most=None) == ["*a1", "*a5", "*a9 a10"]


def test_a_sentence_between_two_passages_joins_the_better_one() -> None:
    assert build("a1", "a3", "a2") == ["*a1 a2", "*a3"]
    assert build("a3", "a1", "a2") == ["a2 *a3", "*a1"]


def test_a_passage_has_at_most_five_sentences() -> None:
    assert build(*(f"a{n}" for n in range(7))) == ["*a0 a1 a2 a3 a4 +1", "*a6"]
    assert MOST_SENTENCES == 5


def test_repeats_of_a_joined_sentence_are_repeats_of_the_passage() -> None:
    a1, b1, a2, c1 = hits("a1", "b1", "a2", "c1")
    (passage,) = build_passages([[a1, b1], [a2, c1]])
    assert passage == Passage(a1, [a1, a2], [b1, c1])
    assert single([[a1, b1], [a2, c1]]) == [Passage(a1, [a1], [b1]), Passage(a2, [a2], [c1])]


def test_further_hits_move_no_passage() -> None:
    draw = random.Random(3)
    for _ in range(200):
        places = list({f"{draw.choice('abc')}{draw.randrange(12)}" for _ in range(30)})

        def best(n: int, places: Sequence[str] = places) -> list[str]:
            return [p.best.sentence_id for p in build_passages([[hit] for hit in hits(*places[:n])])]

        whole = best(len(places))
        for n in range(len(places)):
            assert best(n) == whole[: len(best(n))]


def test_as_json_a_passage_is_its_best_hit_with_the_others_beside_it() -> None:
    (passage, alone) = build_passages([[hit] for hit in hits("a2", "a1", "b1")])
    shown = passage_dict(passage)
    assert shown["sentence_id"] == "a2" and [hit["sentence_id"] for hit in shown["passage"]] == ["a1", "a2"]
    assert (shown["more"], shown["folded"]) == (0, [])
    assert passage_dict(alone)["passage"] == []


@pytest.mark.parametrize(
    ("match", "text"),
    [
        (Match(0, 3, 0, False), "none of the words"),
        (Match(1, 1, 0, False), "the word itself"),
        (Match(2, 2, 1, False), "both words; once nearby"),
        (Match(4, 4, 2, True), "all four words; twice nearby; in the headline"),
        (Match(3, 4, 3, False), "three of four words; three times nearby"),
        (Match(10, 11, 0, False), "ten of 11 words"),
        (Match(0, 3, 0, True), "none of the words; in the headline"),
    ],
)
def test_a_match_is_written_in_words(match: Match, text: str) -> None:
    assert write_match(match) == text


ANALYZER = get_analyzer("english-stem")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("storm", "the word itself"),
        ("storms wind", "one of two words; in the headline"),
        ("storms houses", "both words"),
        ("storms houses blew", "two of three words; once nearby"),
        ("storm damage forty house", "all four words"),
        ("night hurt", "none of the words; twice nearby; in the headline"),
    ],
)
def test_the_reason_counts_the_words_of_the_query(query: str, reason: str) -> None:
    assert describe_match(STORM, [(term,) for term in ANALYZER.terms(query)], ANALYZER) == reason


def test_a_word_that_stands_for_several_terms_counts_once() -> None:
    words = [("storm",), ("hous", "sturm"), ("tempest", "storm")]
    assert describe_match(STORM, words, ANALYZER) == "all three words"


def test_numbers_are_spelled_up_to_ten() -> None:
    record = FLOOD._replace(previous="storm " * 3, next="storm " * 9)
    assert describe_match(record, [("storm",)], ANALYZER) == "the word itself; 12 times nearby"
    assert describe_match(record._replace(next=None), [("storm",)], ANALYZER).endswith("three times nearby")


def test_a_sentence_without_neighbours_or_a_headline_is_described_by_itself() -> None:
    record = FLOOD._replace(previous=None, next=None, title=None)
    assert describe_match(record, [("storm",), ("tax",)], ANALYZER) == "one of two words"
