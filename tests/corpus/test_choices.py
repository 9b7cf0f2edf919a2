"""The orders of lines of a concordance."""

from __future__ import annotations

from esr.corpus.choices import SORTS


def test_lines_are_ordered_from_each_of_three_words_on_both_sides() -> None:
    assert [sort for sort in SORTS if sort[-1].isdigit()] == [
        *("left1", "left2", "left3"),
        *("right1", "right2", "right3"),
    ]
    assert SORTS["right1"].endswith("from the first") and SORTS["left3"].endswith("from the third")
