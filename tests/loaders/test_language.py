import pytest

from esr.documents import Document, Located, Sentence
from esr.loaders.language import Languages

TEXTS = {
    "en": "The ferry across the fjord sails again after repairs of two weeks, its owner said on Monday.",
    "de": "Die Fähre über den Fjord fährt nach zwei Wochen wieder, sagte der Besitzer am Montag der Zeitung.",
    "fr": "Le bac du fjord repart après deux semaines de réparations, a dit lundi son maître.",
    "ru": "Паром через фьорд снова ходит после двух недель ремонта, сообщил в понедельник его владелец.",
}


def detected(text: str, given: str | None = None) -> tuple[str | None, int]:
    languages = Languages()
    document = Document("a", (Sentence("a.s0", text),), language=given)
    (found,) = languages.added([Located("x:1", document)])
    return found.document.language, languages.detected


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_of_a_document_that_gives_none_is_recorded(language):
    assert detected(TEXTS[language]) == (language, 1)


def test_a_language_that_is_given_stays():
    assert detected(TEXTS["de"], "en-GB") == ("en-GB", 0)


@pytest.mark.parametrize(
    "text", ["", "Ja.", "フェリーが再び運航", "1 2 3 4 5 6 7 8 9 0 " * 10, "Bergen Oslo"]
)
def test_what_is_too_short_or_no_text_gets_no_language(text):
    assert detected(text) == (None, 0)
