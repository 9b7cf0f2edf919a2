from __future__ import annotations

import pytest

from esr.enrichment.language import is_english, is_latin


@pytest.mark.parametrize(
    ("language", "english"),
    [
        *((name, True) for name in ("en", "EN-gb", "en_US", "eng", "English", " en ")),
        *((name, False) for name in ("de", "enm", "French", "")),
        (None, None),
    ],
)
def test_a_language_is_english_by_its_code_or_name(language: str | None, english: bool | None) -> None:
    assert is_english(language) is english


@pytest.mark.parametrize(
    "text", ["Rain", "“Écoute” – naïve…", "ﬁsh", "Moscow (Москва) 1", "5 km", "Москва is its name"]
)
def test_a_sentence_of_latin_letters(text: str) -> None:
    assert is_latin(text)


@pytest.mark.parametrize(
    "text", ["", " \n", "12.5 %", "😡😡!!", "Привет, EU", "три EU", "東京で雨が降る", "…"]
)
def test_a_sentence_of_other_letters_or_none(text: str) -> None:
    assert not is_latin(text)
