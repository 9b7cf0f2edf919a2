"""Errors that readers cause are told in the language of the page, with the values at fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextvars import copy_context

import pytest
from flask.testing import FlaskClient

from tools.error_messages import ErrorMessage, error_messages
from webui.translations.errors import translate_error
from webui.translations.language import DEFAULT, LANGUAGES, as_sentence, set_language

TRANSLATED = [name for name in LANGUAGES if name != DEFAULT.name]


def fill(message: ErrorMessage) -> tuple[str, list[str]]:
    """The message with values, and the values."""
    values = [f"<{n}>" for n in range(len(message.values))]
    names = {f"v{n}": value for n, value in enumerate(values, 1)}
    return message.text % names, values


def in_language(name: str, text: str) -> str:
    def translate() -> str:
        set_language(LANGUAGES[name])
        return translate_error(text)

    return copy_context().run(translate)


def sentences() -> Iterator[ErrorMessage]:
    """The messages that stand alone; a word is the kind of a thing within another message."""
    return (message for message in error_messages() if " " in message.text)


@pytest.mark.parametrize("language", TRANSLATED)
def test_each_message_is_found_again_with_its_values(language: str) -> None:
    for message in sentences():
        text, values = fill(message)
        for shown in (text, as_sentence(text)):
            translated = in_language(language, shown)
            assert sorted(re.findall(r"<\d>", translated)) == values, (shown, translated)
            assert translated != shown or (
                language == "de" and shown.startswith(("argument <", "Argument <"))
            )


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize(
    ("address", "value"),
    [
        ("/search?q=relief&model=bm26", "bm25"),
        ("/search?q=relief&model=bm25&context=both", "bm25"),
        ("/search?q=relief&model=2si&params.lambda=7", "[0, 1]"),
        ("/document?id=nowhere", "nowhere"),
        ("/search?q=relief&after=2020&before=2019", "2019"),
        ("/timeline?q=relief&interval=fortnight", "fortnight"),
    ],
)
def test_a_page_tells_an_error_in_its_language(
    real: FlaskClient, language: str, address: str, value: str
) -> None:
    english = _message(real.get(address, headers={"Accept-Language": "en"}).text)
    shown = _message(real.get(address, headers={"Accept-Language": language}).text)
    assert value in english and value in shown
    assert shown != english and not re.search(r'<p id="problem" lang="en"', shown)


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize(
    "address",
    [
        "/concordance",
        "/keyness?q=%3F",
        "/frequencies?q=the",
        "/collocations?q=-storm",
        "/name?name=Nemo",
    ],
)
def test_what_readers_often_do_wrong_is_told_in_their_language(
    real: FlaskClient, language: str, address: str
) -> None:
    page = real.get(address, headers={"Accept-Language": language}).text
    assert not re.search(r'<p id="problem" lang="en"', page) and "no sentence" not in _message(page)


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_server_without_dossiers_says_so_in_the_language(real: FlaskClient, language: str) -> None:
    page = real.get("/dossiers", headers={"Accept-Language": language}).text
    assert not re.search(r'<p id="problem" lang="en"', page) and "<h1>This server" not in page


@pytest.mark.parametrize("language", TRANSLATED)
def test_an_address_that_takes_another_method_says_so_in_the_language(
    real: FlaskClient, language: str
) -> None:
    page = real.put("/search", headers={"Accept-Language": language, "Accept": "text/html"}).text
    assert not re.search(r'<p id="problem" lang="en"', page) and "GET" in _message(page)


@pytest.mark.parametrize("language", TRANSLATED)
def test_notices_of_filters_and_of_queries_left_out_are_translated_too(
    real: FlaskClient, language: str
) -> None:
    headers = {"Accept-Language": language, "Accept": "text/html"}
    page = real.get("/search?q=relief&source=Nowhere&entity=Nemo", headers=headers).text
    assert "Nowhere" in page and "unknown source" not in page and "unknown name" not in page
    batch = real.post("/batch", data={"queries": "relief\n?", "as": "run"}, headers=headers).text
    assert "anyhow" in batch and "has no words" not in batch


def _message(page: str) -> str:
    found = re.search(r'<p id="problem".*?</p>', page, re.DOTALL)
    assert found, page[:2000]
    return found.group()


def test_english_and_unknown_messages_stay_as_they_are() -> None:
    assert in_language("en", "There is no text to check.") == "There is no text to check."
    assert in_language("de", "The moon is made of cheese.") == "The moon is made of cheese."


def test_a_value_is_no_pattern() -> None:
    assert "(.*" in in_language("de", "there is no letter or digit in '(.*%s'")
