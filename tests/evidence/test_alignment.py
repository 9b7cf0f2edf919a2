"""Alignments of quotations with the words of a text: what counts as a difference, and where."""

from __future__ import annotations

import pytest

from esr.evidence.alignment import Alignment, align, read_quotation, read_words


def compare(quotation: str, original: str) -> Alignment:
    found = align(read_quotation(quotation), read_words(original), quotation, original)
    assert found is not None
    for difference in found.differences:
        assert quotation[difference.start : difference.end] == difference.text
        assert original[difference.original_start : difference.original_end] == difference.original
    return found


@pytest.mark.parametrize(
    ("quotation", "original"),
    [
        ("THE CAFE’S co-operation", "She saw the café's cooperation."),
        ("well known", "It is well-known, he said."),
        ("a thousand … no turning back", "A thousand days, and then no turning back."),
        ("… no turning back ...", "There is no turning back now."),
        ("[T]he house stand[s] still", "And the house stands still."),
        ("[Mrs May] will not pay", "She will not pay."),
        ("will [never] pay", "I will pay."),
        ("it were [sic] ours", "It were ours."),
        ("the U.S. paid 1,000", "The US paid 1000 dollars."),
        ("人民大团结", "他说世界人民大团结万岁"),
    ],
)
def test_what_an_editor_may_change_is_no_difference(quotation: str, original: str) -> None:
    assert compare(quotation, original).edits == 0


@pytest.mark.parametrize(
    ("quotation", "original", "differences"),
    [
        ("no way back", "There is no turning back.", [("way", "turning")]),
        ("to reach an agreement", "failing to reach agreement", [("an", "")]),
        ("to reach agreement", "failing to reach an agreement", [("", "an")]),
        ("we shall never pay", "Today we will not pay.", [("shall never", "will not")]),
        ("“never back again”", "There is no turning back again.", [("never", "turning")]),
    ],
)
def test_words_that_differ_are_shown_beside_those_in_their_place(
    quotation: str, original: str, differences: list[tuple[str, str]]
) -> None:
    found = compare(quotation, original)
    assert [(d.text, d.original) for d in found.differences] == differences
    assert found.edits == sum(max(len(a.split()), len(b.split())) for a, b in differences)


def test_the_place_in_the_text_is_that_of_the_quotation() -> None:
    original = "The minister said there is no turning back, and left."
    found = compare("is no way back", original)
    assert original[found.start : found.end] == "is no turning back"
    assert (found.words, found.similarity) == (4, 0.75)


def test_a_bracket_replaces_a_few_words_and_no_whole_passage() -> None:
    original = "We " + "really " * 20 + "pay."
    assert compare("We … pay", original).edits == 0
    assert compare("We [will] pay", original).edits > 0


def test_an_ellipsis_leaves_out_any_number_of_words_and_a_bracket_replaces_eight() -> None:
    original = "The flood " + "came and " * 150 + "went home."
    assert compare("The flood … went home", original).edits == 0
    nine = "We " + "really " * 9 + "pay the whole sum."
    assert compare("We [will] pay the whole sum", nine.replace("really ", "", 1)).edits == 0
    assert compare("We [will] pay the whole sum", nine).edits == 1


@pytest.mark.parametrize(
    ("quotation", "original", "cost"),
    [
        ("the barn burned down", "the house burned down", 1.0),
        ("the cut ran home", "the cat ran home", 0.5),  # misspelled
        ("the man is home", "the man at home", 1.0),  # two letters are another word
        ("tried firmly to settle", "tried to firmly settle", 1.0),  # moved
        ("barns burned down quickly", "houses burned down quickly", 1.0),
    ],
)
def test_what_is_misspelled_or_moved_costs_half(quotation: str, original: str, cost: float) -> None:
    found = compare(quotation, original)
    assert found.cost == found.longest == cost


def test_costs_are_counted_by_the_halves_of_the_quotation() -> None:
    quotation = "one two thirteen wrong five six seven false nine"
    assert len(quotation) / 3 < quotation.index("wrong") < len(quotation) / 2
    found = compare(quotation, "one two thirteen four five six seven eight nine")
    assert (found.cost, found.in_half) == (2.0, 1.0)


def test_texts_without_a_common_word_have_no_alignment() -> None:
    for quotation in ("…", "[him]", "never again"):
        assert align(read_quotation(quotation), read_words("Wheat fell."), quotation, "Wheat fell.") is None
