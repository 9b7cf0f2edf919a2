"""What two sentences must have in common to be copies, and which words do not count."""

from __future__ import annotations

import numpy as np
import pytest

from esr.enrichment.copy_wording import Wording, find_stock, measure_copy, read_wordings

LONG = (
    "The harbour authority of the northern district {} close both piers on Monday after a cargo ship with {} "
    "containers struck the breakwater near the old lighthouse of {}"
)


def measure(one: str, other: str) -> float:
    return measure_copy(Wording(one), Wording(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Farmers never expected smaller olive harvests.", "Farmers expected smaller olive harvests."),
        ("Drivers blocked the western motorway twice.", "Then 12 drivers blocked the western motorway."),
        (
            "Ministers visited the damaged harbour today.",
            "Yesterday Smith visited the damaged harbour: ministers",
        ),
    ],
)
def test_short_sentences_with_another_negation_number_or_name_are_no_copies(one: str, other: str) -> None:
    assert measure(one, other) == 0.0
    assert measure(one, one) == 1.0


def test_a_changed_word_of_another_kind_leaves_a_short_copy() -> None:
    one = "Farmers there never expected smaller olive harvests."
    assert measure(one, one.replace("smaller", "poorer")) == pytest.approx(6 / 7)


def test_long_and_nearly_identical_sentences_may_differ_in_a_negation_or_a_name() -> None:
    one = LONG.format("will", 12, "Rosslare")
    assert measure(one, LONG.format("will not", 12, "Rosslare")) > 0.9
    assert measure(one, LONG.format("will", 12, "Wexford")) > 0.9
    assert measure(one, LONG.format("will", 85, "Rosslare").replace("cargo", "container")) == 0.0


def test_furniture_is_no_copy_even_if_it_is_the_same() -> None:
    text = "READ MORE: Farmers in the western valleys expect the smallest harvest"
    assert measure(text, text) == 0.0
    assert measure(text.split(": ")[1], text.split(": ")[1]) == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "Nasser Karimi in Tehran contributed to this report.",
        "The ministry did not respond to requests for comment on Monday evening.",
        "Sign up for the newsletter of the harbour authority and its ships",
        "The author is a senior lecturer at Southampton University.",
    ],
)
def test_what_is_about_the_report_itself_is_no_copy_even_if_it_is_the_same(text: str) -> None:
    assert measure(text, text) == 0.0


def test_another_name_alone_makes_a_template_and_no_copy() -> None:
    one = "A man has died after a road crash near Tipperary on Monday evening."
    assert measure(one, one.replace("Tipperary", "Wexford")) == 0.0
    assert measure(one, one.replace("crash", "collision")) > 0.9


def test_a_source_repeats_its_templates_so_its_sentences_must_be_more_alike() -> None:
    one = "The project is supported by the department of jobs and enterprise."
    two, same = "The company is supported by the ministry of jobs and enterprise.", Wording(one)
    assert measure_copy(same, Wording(two), None) == measure_copy(same, Wording(two), False) > 0.8
    assert measure_copy(same, Wording(two), True) == 0.0
    assert measure_copy(same, same, True) == 1.0


PHRASE = "{} did not respond to a request for answers."
SPEAKERS = ("Smith", "Jones", "Brown", "Green", "White", "Black", "Stone", "Wood", "Field", "Lake")


@pytest.mark.parametrize(("days", "is_stock"), [(8, True), (7, False)])
def test_what_many_documents_say_on_many_days_is_a_stock_phrase(days: int, is_stock: bool) -> None:
    texts = [PHRASE.format(speaker) for speaker in SPEAKERS] + [
        "Ministers did respond to a request of farmers."
    ]
    documents = np.arange(len(texts))
    wordings = [Wording(text) for text in texts]
    stock = find_stock(wordings, documents, documents % days)
    assert stock[0].tolist() == [False, *[is_stock] * 8]
    assert not stock[-1][:2].any() and not stock[-1][-2:].any()
    first, second, *_ = read_wordings(texts, documents, documents % days)
    assert ("respond" in first.telling) is not is_stock
    assert "smith" in first.telling and "jones" in second.telling


def test_a_few_characters_of_a_script_without_spaces_are_no_stock_phrase() -> None:
    wordings = [Wording("政府今天宣布新的经济政策。")] * 12
    stock = find_stock(wordings, np.arange(12), np.arange(12))
    assert not any(mask.any() for mask in stock)
