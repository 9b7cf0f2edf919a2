from __future__ import annotations

import pytest

from esr.enrichment.languages import LANGUAGES
from esr.enrichment.scripts import SCRIPTS, is_in_script


@pytest.mark.parametrize(
    "text", ["Rain", "“Écoute” – naïve…", "ﬁsh", "Moscow (Москва) 1", "5 km", "Москва is its name"]
)
def test_a_sentence_of_latin_letters(text: str) -> None:
    assert is_in_script(text, "Latin")


@pytest.mark.parametrize(
    "text", ["", " \n", "12.5 %", "😡😡!!", "Привет, EU", "три EU", "東京で雨が降る", "…"]
)
def test_a_sentence_of_other_letters_or_none(text: str) -> None:
    assert not is_in_script(text, "Latin")


@pytest.mark.parametrize(
    ("text", "scripts"),
    [
        ("Дождь в EU", {"Cyrillic"}),
        ("Βροχή", {"Greek"}),
        ("東京で雨が降りました", {"Japanese"}),
        ("北京下雨", {"Chinese", "Japanese"}),
        ("서울에 비가 온다", {"Korean"}),
        ("Apple Inc.", {"Latin"}),
        ("दिल्ली", set()),
    ],
)
def test_a_sentence_is_in_the_scripts_of_half_of_its_letters(text: str, scripts: set[str]) -> None:
    assert {script for script in SCRIPTS if is_in_script(text, script)} == scripts


def test_where_no_script_is_known_letters_are_enough() -> None:
    assert is_in_script("दिल्ली", None) and is_in_script("Rain", None)
    assert not is_in_script("12.5 % 😡", None)


def test_every_language_has_a_known_script() -> None:
    assert {language.script for language in LANGUAGES.values()} == set(SCRIPTS)
