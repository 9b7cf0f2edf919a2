"""Sentences know their page or their second, however their text was joined and split."""

from __future__ import annotations

import pytest

from esr.text.placed_text import (
    CONFIDENCE,
    PAGE,
    SECOND,
    PlacedText,
    Places,
    describe_place,
    find_places,
    join_pieces,
)


def test_a_sentence_has_the_place_of_the_piece_in_which_it_begins() -> None:
    one, two, three = ({PAGE: float(number)} for number in (1, 2, 3))
    text = join_pieces([("A b. C", one), ("d. E f.", two), (" \n", {PAGE: 9.0}), ("G.", two), ("H.", three)])
    assert text == "A b. C\n\nd. E f.\n\nG.\n\nH."
    assert text.places == ((0, one), (4, two), (11, three))
    assert [*find_places(text, ["A b.", "C\n\nd.", "E f.", "G.", "H."])] == [one, one, two, two, three]


def test_characters_are_counted_in_their_normal_form() -> None:
    text = join_pieces([("Cafe\u0301.", {PAGE: 1.0}), ("B.", {PAGE: 2.0})])
    assert text.places[1][0] == len("Caf\u00e9.")


@pytest.mark.parametrize("text", ["A. B.", PlacedText("A. B.")])
def test_a_sentence_of_a_text_without_places_has_none(text: str) -> None:
    assert [*find_places(text, ["A.", "B."])] == [{}, {}]


@pytest.mark.parametrize(
    ("features", "description"),
    [
        ({SECOND: 0.9}, "0:00"),
        ({SECOND: 59.0}, "0:59"),
        ({SECOND: 61.0}, "1:01"),
        ({SECOND: 3_599.0}, "59:59"),
        ({SECOND: 3_600.0}, "1:00:00"),
        ({SECOND: 3_765.0}, "1:02:45"),
        ({SECOND: 5.0, PAGE: 3.0}, "0:05"),
        ({SECOND: -1.0, PAGE: 3.0}, "page 3"),
        ({PAGE: 3.0, CONFIDENCE: 0.5}, "page 3"),
        ({SECOND: -1.0}, None),
        ({CONFIDENCE: 0.5}, None),
        ({}, None),
    ],
)
def test_a_place_is_told_to_readers_as_a_time_or_a_page(features: Places, description: str | None) -> None:
    assert describe_place(features) == description
