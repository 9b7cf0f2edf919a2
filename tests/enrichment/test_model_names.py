"""Names that models mark: without articles, and without words that name nothing."""

from __future__ import annotations

import pytest

from esr.enrichment.model_names import clean_names
from esr.text.sentence_enrichment import LOCATION, Entity


def cleaned(language: str, *texts: str) -> list[str]:
    return [entity.text for entity in clean_names([Entity(text, LOCATION) for text in texts], language)]


@pytest.mark.parametrize(
    ("language", "marked", "name"),
    [
        ("fr", "l’Espagne", "Espagne"),
        ("fr", "qu’Olivia", "Olivia"),
        ("fr", "la Basse-Autriche", "Basse-Autriche"),
        ("fr", "Le Figaro", "Le Figaro"),
        ("it", "dell'Italia", "Italia"),
        ("es", "los Andes", "Andes"),
        ("es", "Los Ángeles", "Los Ángeles"),
        ("de", "l’Espagne", "l’Espagne"),
        ("ja", "東京", "東京"),
        ("ja", "nhk東京", "nhk東京"),
        ("zh", "北京", "北京"),
    ],
)
def test_a_small_article_is_no_part_of_a_name(language: str, marked: str, name: str) -> None:
    assert cleaned(language, marked) == [name]


@pytest.mark.parametrize(
    ("language", "marked"),
    [
        ("fr", "L’"),
        ("fr", "n’"),
        ("fr", "lune"),
        ("es", "Según"),
        ("es", "¿"),
        ("es", "También"),
        ("ja", "。"),
    ],
)
def test_what_has_no_word_that_names_something_is_no_name(language: str, marked: str) -> None:
    assert cleaned(language, marked) == []


def test_a_clean_name_keeps_its_type() -> None:
    assert list(clean_names([Entity("l’Espagne", LOCATION)], "fr")) == [Entity("Espagne", LOCATION)]
