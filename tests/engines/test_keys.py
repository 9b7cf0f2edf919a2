"""Written forms of one name have one key, those of different names have different ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.engines.keys import MAX_KEY_CHARS, name_key, value_key

PIECES = ["the", "An", "a", "'s", "s'", "’s", ".", "A.", "é", "x", " ", "\u0301", "St."]


@pytest.mark.parametrize(
    "key, forms",
    [
        ("us", ["US", "U.S.", "the U.S.", "U. S.", "The US'", "u.s.", "the U.S.’s"]),
        ("barack obama", ["Barack Obama", "BARACK OBAMA", "Barack\n Obama's", "Barack Obama’s"]),
        ("united states", ["the United States", "United States'", "UNITED STATES’"]),
        ("jp morgan", ["JP Morgan", "J.P. Morgan", "J. P. Morgan's"]),
        ("george w bush", ["George W. Bush", "George W Bush"]),
        ("st louis", ["St. Louis", "St Louis"]),
        ("beyonce", ["Beyoncé", "Beyonce\u0301", "BEYONCÉ's"]),
        ("lukasz", ["Łukasz", "Lukasz"]),
        ("istanbul", ["İstanbul", "ISTANBUL", "Istanbul"]),
        ("strasse", ["Straße", "STRASSE"]),
        ("o'neill", ["O’Neill", "O'Neill"]),
        ("αθηνα", ["Αθήνα", "ΑΘΗΝΑ"]),
        ("семен", ["Семён", "СЕМЕН"]),
        ("nato", ["NATO", "ＮＡＴＯ", "N.A.T.O."]),
    ],
)
def test_the_forms_of_a_name_have_one_key(key: str, forms: list[str]) -> None:
    assert {form: name_key(form) for form in forms} == dict.fromkeys(forms, key)


@pytest.mark.parametrize(
    "one, other",
    [
        ("Йошкар-Ола", "Иошкар-Ола"),
        ("がん", "かん"),
        ("कि", "क"),
        ("Amazon.com", "Amazon com"),
        ("America's Cup", "America Cup"),
        ("The Who", "Who's Who"),
        ("Theresa", "resa"),
        ("Anna", "na"),
        ("'s-Hertogenbosch", "Hertogenbosch"),
    ],
)
def test_what_makes_another_name_stays(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


@pytest.mark.parametrize("name", ["The", "A", "an", "...", "'s", "'", "The The"])
def test_a_name_of_what_is_left_out_keeps_a_key(name: str) -> None:
    assert name_key(name)


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_the_key_of_a_key_is_the_key_and_its_length_is_bounded(name: str) -> None:
    key = name_key(name)
    assert name_key(key) == key
    assert len(key) <= MAX_KEY_CHARS
    assert bool(key) == bool(value_key(name))


def test_a_key_is_cut_at_its_greatest_length() -> None:
    assert name_key("x" * 500) == "x" * MAX_KEY_CHARS


def test_a_source_is_compared_without_its_case_and_by_nothing_else() -> None:
    assert value_key("  The BBC ") == value_key("the bbc") != value_key("BBC")
    assert value_key("Le Monde") != value_key("Le Mondé")
