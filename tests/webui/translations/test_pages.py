"""Each page in each language, and in one that shows which texts are not translated."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from tests.support.page_corpus import FAILING, PAGES
from tests.support.pseudo_language import BEGIN, NAME, UnmarkedText, make_pseudo_language
from webui.translations.language import DEFAULT, LANGUAGES

TRANSLATED = [name for name in LANGUAGES if name != DEFAULT.name]
_NAMES = frozenset(
    [
        *(
            "CSV",
            "JSON",
            "Excel",
            "BibTeX",
            "RIS",
            "CSL",
            "APA",
            "MLA",
            "Chicago",
            "TREC",
            "run",
            "esr",
            "Lines",
        ),
        *("Lines", "Markdown", "Word", "log2", "cf(t", "k=1:a=2"),
    ]
)
"""Words of pages that are names: of formats, styles and esr itself."""


def read(client: FlaskClient, path: str, language: str) -> str:
    answer = client.get(path, headers={"Accept-Language": language})
    assert answer.status_code == 200 or path in {PAGES[name] for name in FAILING}
    return answer.text


@pytest.mark.parametrize("page", PAGES)
def test_every_text_of_a_page_is_a_message_or_data(
    real: FlaskClient, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LANGUAGES, NAME, make_pseudo_language())
    html = read(real, PAGES[page], NAME)
    assert html.count(BEGIN) > 30
    parser = UnmarkedText(_NAMES)
    parser.feed(html)
    assert parser.found == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_each_page_answers_in_each_language(real: FlaskClient, language: str) -> None:
    expected = LANGUAGES[language]
    for path in PAGES.values():
        html = read(real, path, language)
        assert f'<html lang="{language}" dir="{expected.direction}">' in html
        assert not re.search(r"%\(\w+\)s|%%", html), path
        assert "Skip to the" not in html, path
