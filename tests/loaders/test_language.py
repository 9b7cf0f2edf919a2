import pytest

from esr.documents import Document, Located, Sentence
from esr.loaders.language import LanguageDetector

TEXTS = {
    "en": "The ferry across the fjord sails again after repairs of two weeks, its owner said on Monday.",
    "de": "Die Fähre über den Fjord fährt nach zwei Wochen wieder, sagte der Besitzer am Montag der Zeitung.",
    "fr": "Le bac du fjord repart après deux semaines de réparations, a dit lundi son maître.",
    "ru": "Паром через фьорд снова ходит после двух недель ремонта, сообщил в понедельник его владелец.",
}


def detect(text: str, declared: str | None = None) -> tuple[str | None, int]:
    detector = LanguageDetector()
    document = Document("a", (Sentence("a.s0", text),), language=declared)
    (located,) = detector.annotate([Located("x:1", document)])
    return located.document.language, detector.detected


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_of_a_document_without_one_is_detected(language):
    assert detect(TEXTS[language]) == (language, 1)


def test_an_existing_language_stays():
    assert detect(TEXTS["de"], "en-GB") == ("en-GB", 0)


@pytest.mark.parametrize(
    "text", ["", "Ja.", "フェリーが再び運航", "1 2 3 4 5 6 7 8 9 0 " * 10, "Bergen Oslo"]
)
def test_short_texts_and_numbers_get_no_language(text):
    assert detect(text) == (None, 0)
