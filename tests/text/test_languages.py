"""Languages by their names, by the script of a text, and by its words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from esr.text.languages import (
    MAX_CHARACTERS,
    MIN_LETTERS,
    SAMPLE,
    abridge,
    detect_language,
    find_language,
    find_script_language,
    name_language,
)


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("de", "German"),
        ("de-at", "German (AT)"),
        ("zh-hant-hk", "Chinese (HANT-HK)"),
        ("DE", "German"),
        ("lv", "Latvian"),
        ("xx", "xx"),
        ("xx-yy", "xx-yy"),
    ],
)
def test_a_language_is_named_for_readers(tag: str, name: str) -> None:
    assert name_language(tag) == name


@pytest.mark.parametrize(
    ("language", "code"),
    [("de-AT", "de"), ("deu", "de"), (" German ", "de"), ("de_CH", "de"), ("xx", None), (None, None)],
)
def test_a_language_has_the_rules_of_its_code_or_name(language: str | None, code: str | None) -> None:
    assert find_language(language) == code


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die Flut kam", None),
        ("Überflutung", None),
        ("洪水が来た", "ja"),
        ("洪" * 9 + "が", "ja"),
        ("洪" * 10 + "が", "zh"),
        ("Паводок", "ru"),
        ("Паводок Flood", "ru"),
        ("Пав Flo", None),
        ("πλημμύρα", "el"),
        ("فيضان", "ar"),
        ("น้ำท่วม", "th"),
        ("बाढ़", "hi"),
        ("հեղեղ", None),
    ],
)
def test_a_script_tells_the_language_whose_rules_suit_it(text: str, language: str | None) -> None:
    assert find_script_language(text) == language


def test_a_script_is_looked_for_in_the_beginning_of_a_text_alone() -> None:
    assert find_script_language(" " * (SAMPLE - 1) + "П") == "ru"
    assert find_script_language(" " * SAMPLE + "П") is None


def test_texts_are_abridged_to_what_detection_uses() -> None:
    read: list[str] = []

    def texts() -> Iterator[str]:
        for text in ("A  flood\n", "came " * MAX_CHARACTERS, "and went"):
            read.append(text)
            yield text

    text = abridge(texts())
    assert text.startswith("A flood came came ") and len(text) == MAX_CHARACTERS
    assert len(read) == 2, "the rest is not read"
    assert abridge(["to", "the", "end"]) == "to the end"
    exactly = ["a" * MAX_CHARACTERS, "b"]
    assert abridge(exactly) == "a" * MAX_CHARACTERS


@pytest.mark.slow
def test_a_language_is_detected_from_enough_letters_that_are_clear() -> None:
    german = "Die Feuerwehr hat in der Nacht einen Keller ausgepumpt"
    assert detect_language([german]) == "de"
    assert detect_language([german[:20], german[20:]]) == "de"
    letters = 0
    for end, letter in enumerate(german, 1):
        letters += letter.isalpha()
        if letters == MIN_LETTERS - 1:
            assert detect_language([german[:end] + "." * 50]) is None
        if letters == MIN_LETTERS:
            assert detect_language([german[:end]]) == "de"
            break
    danish_or_norwegian = "Politik og kultur i den store by ved havet i dag og i morgen"
    assert detect_language([danish_or_norwegian]) is None, "it is Danish by .68"
