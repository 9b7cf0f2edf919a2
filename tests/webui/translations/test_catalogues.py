"""Catalogues translate every message, with its placeholders and all plural forms of the language."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from babel import Locale
from hatchling.builders.wheel import WheelBuilder

from tools import translations
from webui.translations import catalogue
from webui.translations.formats import Formats
from webui.translations.language import DEFAULT, LANGUAGES

TRANSLATED = [name for name in LANGUAGES if name != DEFAULT.name]
TEMPLATES = sorted(Path("webui/templates").glob("*.html"))


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_message_is_translated(language: str) -> None:
    assert list(translations.check(language)) == []


def test_the_wheel_has_the_catalogues() -> None:
    shipped = {file.distribution_path for file in WheelBuilder(".").recurse_included_files()}
    assert {f"webui/translations/messages/{name}.po" for name in TRANSLATED} <= shipped


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_number_gets_the_plural_form_of_its_category(language: str) -> None:
    read = catalogue.read_catalogue(language)
    locale = Locale.parse(language)
    numbers = (0, 1, 2, 3, 10, 11, 99, 100, 102, 103, 1_000_000)
    form_of: dict[str, int] = {}
    for number in numbers:
        form = form_of.setdefault(locale.plural_form(number), read.plural(number))
        assert form == read.plural(number)
    assert len(set(form_of.values())) == len(form_of)
    assert len(read.messages["%(num)s sentence"]) == len(locale.plural_form.tags | {"other"})


def test_scripts_get_the_plural_forms_by_category() -> None:
    clippings = catalogue.read_catalogue("ar").scripts["%(num)s clipping"]
    assert set(clippings) == {"zero", "one", "two", "few", "many", "other"}
    assert "Close" in catalogue.read_catalogue("de").scripts
    assert "Skip to the sentences" not in catalogue.read_catalogue("de").scripts


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_translate_only_what_can_be_extracted(path: Path) -> None:
    """A text of a variable would also be taken for markup: the filter `translated` is for these."""
    text = path.read_text("utf-8")
    for start in ("_(", "gettext("):
        at = text.find(start)
        while at >= 0:
            is_call = not (text[at - 1].isalnum() or text[at - 1] == "_")
            assert not is_call or text[at + len(start)] in "'\"", text[at : at + 60]
            at = text.find(start, at + 1)


@pytest.mark.parametrize(
    ("language", "number", "expected"),
    [
        ("de", 1234567.8, "1.234.567,8"),
        ("fr", 1234.5, "1\u202f234,5"),
        ("es", 1234.5, "1234,5"),
        ("es", 12345.0, "12.345,0"),
        ("ar", 1234.5, "1,234.5"),
        ("en", 1234.5, "1,234.5"),
    ],
)
def test_numbers_are_written_as_the_language_writes_them(language: str, number: float, expected: str) -> None:
    assert LANGUAGES[language].formats.number(number, 1) == expected


def test_the_names_of_languages_and_days_are_those_of_the_language() -> None:
    formats = Formats("fr")
    assert formats.day(date(2017, 3, 1)) == "1 mars 2017"
    assert formats.weekday(date(2017, 3, 1)) == "mercredi"
    assert formats.language("de-at") == "allemand (Autriche)"
    assert formats.language("xx-unknown-tag") == "xx-unknown-tag"
